"""Words for people and animals that stand for one another: what was said of the "wife" answers what is asked of the 太太.

Rules compare words, so these few are all that they know; everything else needs a model.
"""

from __future__ import annotations

from functools import cache

from .irregular import word_stems

__all__ = ["others_for"]

_SAME = """
wife 妻子 老婆 太太 媳妇 爱人; husband 丈夫 老公 先生 爱人; mother mum mom mam mama mummy mommy 妈妈 母亲 老妈 妈;
father dad papa daddy 爸爸 父亲 老爸 爸; grandmother grandma gran granny nan nana 奶奶 外婆 姥姥;
grandfather grandad granddad grandpa 爷爷 外公 姥爷; 外婆 姥姥; 外公 姥爷; daughter 女儿 闺女; son 儿子;
child kid 孩子 小孩; elder-brother 哥哥 哥; younger-brother 弟弟 弟; elder-sister 姐姐 姐; younger-sister 妹妹 妹;
girlfriend 女朋友 女友; boyfriend 男朋友 男友; flatmate roommate housemate 室友 舍友; colleague coworker 同事;
boss supervisor 老板 领导 上司; doctor gp 医生 大夫; dog puppy pup mutt 狗 狗狗 小狗 犬; cat kitten tabby 猫 猫咪 小猫
"""
"""Each of a group stands for every other."""

_WIDER = """
wife: partner spouse; husband: partner spouse; 妻子: 配偶; 丈夫: 配偶;
partner: wife husband spouse girlfriend boyfriend; spouse: wife husband partner; 配偶: 妻子 丈夫 太太 先生 老婆 老公;
parent: mother mum mom father dad 爸爸 妈妈; 父母: 爸爸 妈妈 父亲 母亲 爸妈; 爸妈: 父母 爸爸 妈妈 父亲 母亲;
sibling: brother sister; child: son daughter 儿子 女儿; 孩子: 儿子 女儿 宝宝; brother: 哥哥 弟弟; sister: 姐姐 妹妹;
dog: labrador retriever poodle terrier collie spaniel beagle bulldog dachshund greyhound whippet husky corgi pug
 chihuahua rottweiler dalmatian schnauzer labradoodle cockapoo shiba 金毛 拉布拉多 柯基 泰迪 哈士奇 柴犬 边牧;
cat: siamese persian ragdoll tomcat 布偶 英短 美短 橘猫 狸花;
pet: dog puppy cat kitten rabbit hamster parrot budgie tortoise turtle goldfish guinea-pig gerbil;
宠物: 狗 猫 兔子 仓鼠 鹦鹉 乌龟
"""
"""What stands before the colon is also meant by each that follows, but not the other way round."""


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    same = [tuple(group.split()) for group in _SAME.split(";")]
    for group in same:
        for word in group:
            found.setdefault(_key(word), {}).update(dict.fromkeys(one for one in group if one != word))
    for line in _WIDER.split(";"):
        head, _, rest = line.partition(":")
        heads = {head.strip()}.union(*(group for group in same if head.strip() in group))
        for word in sorted(heads):
            found.setdefault(_key(word), {}).update(dict.fromkeys(rest.split()))
    return {word: tuple(others) for word, others in found.items()}


def _key(word: str) -> str:
    return "".join(word_stems(word.casefold()))


def others_for(word: str) -> tuple[str, ...]:
    """The words that say as much as a word for a person or an animal; none for any other word.

    Args:
        word: English in any form, or a whole Chinese word.
    """
    return _groups().get(_key(word), ())
