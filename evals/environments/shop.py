"""A shop search in the manner of WebShop's: find and buy a thing of a kind, colour and material below a price.

Its own rules are the same in every task: what its search understands, how its filters are called, and which words it has
for colours and materials.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from hexamem.evals.environments.contract import Feedback, Past, Task, numbered

__all__ = ["Shop", "prior"]

_KINDS = ("shirt", "lamp", "backpack", "kettle", "blanket")
_COLOURS = {
    "red": ("red", "scarlet", "crimson", "ruby"),
    "blue": ("blue", "azure", "navy", "cobalt"),
    "green": ("green", "olive", "emerald", "jade"),
}
_MATERIALS = {
    "cotton": ("cotton", "jersey", "percale"),
    "metal": ("metal", "steel", "alloy"),
    "wood": ("wood", "oak", "timber"),
}
_CEILINGS = ("price={}", "max_price={}", "under={}", "price_below={}")
_FILTERS = ("kind", "colour", "material")
_PAGE = 4


class Shop:
    """The environment; ``seed`` makes another shop."""

    name = "shop"
    help = (
        "Actions: search WORDS | filter NAME=VALUE | next | open NUMBER | buy. Filters narrow the last search; buy "
        "buys what is open. The names of filters are kind, colour, material and one for the highest price, which is "
        "price, max_price, under or price_below. The shop may have another word for what is wished for: "
        + "; ".join(f"{of[0]} or {', '.join(of[1:])}" for of in (*_COLOURS.values(), *_MATERIALS.values()))
        + "."
    )

    def __init__(self, seed: int = 0) -> None:
        rules = random.Random(f"shop {seed}")
        self.seed = seed
        self.colours = {word: rules.choice(of) for word, of in _COLOURS.items()}
        self.materials = {word: rules.choice(of) for word, of in _MATERIALS.items()}
        self.ceiling = rules.choice(_CEILINGS)
        self.words = rules.choice((1, 2))  # so many words a search understands
        every = list(product(_KINDS, _COLOURS, _MATERIALS, range(3)))
        rules.shuffle(every)
        self.goods = [
            (kind, self.colours[colour], self.materials[material], 15 + 20 * step + rules.randrange(15))
            for kind, colour, material, step in every
        ]

    def tasks(self, count: int) -> list[Task]:
        """The first tasks: kinds, colours and materials mixed by the seed."""
        every = list(product(_KINDS, _COLOURS, _MATERIALS))
        chance = random.Random(f"tasks {self.seed}")
        chance.shuffle(every)
        texts = [f"Buy a {c} {m} {k} under {chance.choice((40, 55))} dollars" for k, c, m in every]
        return numbered(self.name, texts[:count])

    def begin(self, task: Task) -> ShopEpisode:
        """A new attempt."""
        return ShopEpisode(self, task)


class ShopEpisode:
    """One attempt."""

    limit = 13  # the median of what an agent without experience needs, over twenty shops
    first = "You are on the start page of the shop."

    def __init__(self, shop: Shop, task: Task) -> None:
        self._shop = shop
        colour, material, kind, self._ceiling = _read(task.text)
        self._wanted = (kind, shop.colours[colour], shop.materials[material])
        self._found: list[int] = []
        self._page, self._open = 0, -1

    def act(self, action: str) -> Feedback:
        """Do something; what the shop does not know it refuses."""
        goods = self._shop.goods
        verb, _, rest = action.strip().partition(" ")
        if verb == "search":
            words = rest.split()
            fits = len(words) <= self._shop.words
            return self._listed([at for at, one in enumerate(goods) if fits and {*words} <= {*one[:3]}])
        if verb == "filter":
            return self._filter(rest)
        if verb == "next":
            return self._listed(self._found, self._page + 1)
        if verb == "open" and rest.isdigit() and int(rest) in self._found:
            self._open = int(rest)
            kind, colour, material, price = goods[self._open]
            return Feedback(observation=f"Article {rest}: {kind}, {colour}, {material}, {price} dollars.")
        if verb == "buy" and self._open >= 0:
            *bought, price = goods[self._open]
            fits = tuple(bought) == self._wanted and price < int(self._ceiling)
            return Feedback(observation="Thank you for your order.", done=True, reward=float(fits))
        return Feedback(error="The shop does not know what you mean.")

    def _filter(self, rest: str) -> Feedback:
        goods, (name, _, value) = self._shop.goods, rest.partition("=")
        if not self._found:
            return Feedback(error="There is nothing to filter.")
        if self._shop.ceiling.format(value) == rest and value.isdigit():
            return self._listed([at for at in self._found if goods[at][3] < int(value)])
        if name not in _FILTERS:
            return Feedback(error=f"Unknown filter {name}.")
        column = _FILTERS.index(name)
        if all(one[column] != value for one in goods):
            return Feedback(error=f"Unknown value for {name}: {value}.")
        return self._listed([at for at in self._found if goods[at][column] == value])

    def _listed(self, found: list[int], page: int = 0) -> Feedback:
        self._found, self._page = found, page
        goods = self._shop.goods
        lines = [f"{at}: {goods[at][0]}, {goods[at][3]} dollars" for at in found[page * _PAGE : (page + 1) * _PAGE]]
        return Feedback(observation=f"{len(found)} results. {'; '.join(lines)}".strip())


def prior(task: str, first: str, past: Sequence[Past]) -> list[str]:
    """Search with all words, then with fewer; narrow by each wish, with other words for it where one is refused; buy."""
    colour, material, kind, ceiling = _read(task)
    tried = {one.action for one in past}

    def new(actions: Sequence[str]) -> list[str]:
        return [action for action in actions if action not in tried]

    hits = [
        at for at, one in enumerate(past) if one.action.startswith("search") and not one.observation.startswith("0 ")
    ]
    if not hits:
        words = (f"{colour} {material} {kind}", f"{material} {kind}", f"{colour} {kind}", kind)
        return new([f"search {one}" for one in words])
    since = past[hits[-1] :]
    worked = {one.action.split("=")[0].removeprefix("filter ") for one in since if not one.error and "=" in one.action}
    for name, values in (("colour", _COLOURS[colour]), ("material", _MATERIALS[material])):
        left = new([f"filter {name}={value}" for value in values])
        if name not in worked and left:
            return left
    left = new([f"filter {one.format(ceiling)}" for one in _CEILINGS])
    if left and not worked & {one.split("=")[0] for one in _CEILINGS}:
        return left
    if since[-1].action.startswith("open"):
        return ["buy"]
    listed = next((one.observation for one in reversed(since) if "results." in one.observation), "")
    numbers = [one.split(":")[0].strip() for one in listed.partition("results.")[2].split(";") if ":" in one]
    return new([f"open {number}" for number in numbers]) or ["next"]


def _read(task: str) -> tuple[str, str, str, str]:
    """Colour, material, kind and the highest price."""
    words = task.split()
    return words[2], words[3], words[4], words[6]
