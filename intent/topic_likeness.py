"""How alike texts are in what they are about, by vectors alone.

All vectors of an embedder lean one way, those of static ones far, since all texts have their commonest words in common.
So the cosine of two texts that have nothing to do with each other is well above 0, and the more so the longer they are.
What vectors have in common is taken from each before they are compared: the mean over sentences on many things (Mu and
Viswanath, All-but-the-Top, ICLR 2018, section 2, without the second step).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence

import numpy as np

from hexamem.stores.embedders.base import FloatArray

__all__ = ["TopicLikeness"]

_CJK = re.compile(r"[\u3400-\u9fff]")
_ENGLISH = (
    "Could you tell me when the shop in the next street closes today?",
    "I slept badly because the neighbours were loud again last night.",
    "She painted the kitchen in a warm yellow and put up new shelves.",
    "The train was late, so we missed the beginning of the concert.",
    "Please send me the report before the end of the week.",
    "He has been learning to play the guitar for about two years.",
    "My back hurts when I sit at the desk for too long.",
    "We are thinking of going to the mountains in the summer.",
    "The meeting was moved to Thursday because two people are ill.",
    "They bought a used car from a friend and are happy with it.",
    "I would like to know how much it costs to send this abroad.",
    "The children planted tomatoes and beans in the garden.",
    "There is a problem with the printer on the second floor.",
    "My mother called to say that the parcel has arrived.",
    "He said that he would think about it and tell us tomorrow.",
    "The bread comes out of the oven at seven in the morning.",
    "I have an appointment with the dentist at half past nine.",
    "What do you think about the book that I lent you?",
    "The company sold fewer phones this year than the year before.",
    "Our dog is afraid of thunder and hides under the bed.",
    "It rained all day, and the river is higher than usual.",
    "You can find the settings in the menu at the top right.",
    "The team won the last game in the final minutes.",
    "I forgot my password and cannot sign in any more.",
    "She teaches mathematics at a school near the station.",
    "The tests fail on the server, but they pass on my machine.",
    "We paid the rent late, and the landlord was not pleased.",
    "For dinner I made soup with carrots, ginger and coconut milk.",
    "The film was long, but the music was beautiful.",
    "Thank you for your message, we will answer as soon as possible.",
)
_CHINESE = (
    "请问附近的商店今天几点关门？",
    "昨晚邻居很吵，我没睡好。",
    "她把厨房刷成了黄色，还装了新架子。",
    "火车晚点了，我们没赶上音乐会的开头。",
    "请在周末之前把报告发给我。",
    "他学吉他已经两年左右了。",
    "我坐得太久，背就会疼。",
    "我们打算夏天去山里玩。",
    "会议改到星期四了，因为有两个人生病。",
    "他们从朋友那里买了一辆二手车。",
    "我想知道寄到国外要多少钱。",
    "孩子们在院子里种了西红柿和豆子。",
    "二楼的打印机出了问题。",
    "妈妈打电话说包裹到了。",
    "他说要考虑一下，明天告诉我们。",
    "我约了明天九点半看牙医。",
    "你觉得我借给你的那本书怎么样？",
    "公司今年卖的手机比去年少。",
    "我家的狗怕打雷，躲在床底下。",
    "我忘了密码，登录不了了。",
    "她在车站附近的学校教数学。",
    "晚饭我做了胡萝卜汤。",
    "电影很长，但是音乐很好听。",
    "谢谢你的来信，我们会尽快回复。",
)


class TopicLikeness:
    """Compares texts by what they are about. Safe to use from several threads.

    Args:
        embed: gives vectors of texts, ``(n, d)``; it costs nothing. It is first called when texts are first compared.
    """

    def __init__(self, embed: Callable[[Sequence[str]], FloatArray]) -> None:
        self._embed = embed
        self._common: tuple[FloatArray, FloatArray] | None = None
        self._guard = threading.Lock()

    def likest(self, text: str, others: Sequence[str]) -> float:
        """The cosine, -1 to 1, of a text with the one of the others that is most like it, without what all texts have in
        common; 1 where the embedder knows no word of the text, of whose topic nothing can be said then."""
        vectors = np.asarray(self._embed([text, *others]), np.float32)
        if not vectors[0].any():
            return 1.0
        english, chinese = self._shared()
        vectors = vectors - np.stack([chinese if _CJK.search(one) else english for one in (text, *others)])
        lengths = np.linalg.norm(vectors, axis=1)
        return float(np.max(vectors[1:] @ vectors[0] / np.maximum(lengths[1:] * lengths[0], 1e-9)))

    def _shared(self) -> tuple[FloatArray, FloatArray]:
        with self._guard:
            if self._common is None:
                english, chinese = (np.asarray(self._embed(one), np.float32).mean(0) for one in (_ENGLISH, _CHINESE))
                self._common = english, chinese
            return self._common
