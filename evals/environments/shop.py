"""A shop search in the manner of WebShop's: find and buy a thing of a kind, colour and material below a price.

Its own rules are the same in every task: what its search understands, how its filters are called, and which words it has
for colours and materials.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

from hexamem.evals.environments.contract import Feedback, Past, Task

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
_PAGE = 4
_LIMIT = 13  # the median of what an agent without experience needs, over twenty shops


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
        self.colours = {said: rules.choice(of) for said, of in _COLOURS.items()}
        self.materials = {said: rules.choice(of) for said, of in _MATERIALS.items()}
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
        return [Task(environment=self.name, number=at, text=text) for at, text in enumerate(texts[:count])]

    def begin(self, task: Task) -> ShopEpisode:
        """A new attempt."""
        return ShopEpisode(self, task)


class ShopEpisode:
    """One attempt."""

    limit = _LIMIT
    first = "You are on the start page of the shop."

    def __init__(self, shop: Shop, task: Task) -> None:
        self._shop = shop
        words = task.text.split()
        colour, material, self._kind, ceiling = words[2], words[3], words[4], words[6]
        self._colour, self._material, self._ceiling = shop.colours[colour], shop.materials[material], int(ceiling)
        self._found: list[int] = []
        self._page, self._open = 0, -1

    def act(self, action: str) -> Feedback:
        """Do something; what the shop does not know it refuses."""
        verb, _, rest = action.strip().partition(" ")
        if verb == "search":
            words = rest.split()
            fits = len(words) <= self._shop.words
            self._found = [at for at, one in enumerate(self._shop.goods) if fits and set(words) <= {*one[:3]}]
            self._page = 0
            return Feedback(observation=self._listed())
        if verb == "filter":
            return self._filter(rest)
        if verb == "next":
            self._page += 1
            return Feedback(observation=self._listed())
        if verb == "open" and rest.isdigit() and int(rest) in self._found:
            self._open = int(rest)
            kind, colour, material, price = self._shop.goods[self._open]
            return Feedback(observation=f"Article {rest}: {kind}, {colour}, {material}, {price} dollars.")
        if verb == "buy" and self._open >= 0:
            kind, colour, material, price = self._shop.goods[self._open]
            fits = (kind, colour, material) == (self._kind, self._colour, self._material) and price < self._ceiling
            return Feedback(observation="Thank you for your order.", done=True, reward=float(fits))
        return Feedback(error="The shop does not know what you mean.")

    def _filter(self, rest: str) -> Feedback:
        name, _, value = rest.partition("=")
        places = {"kind": 0, "colour": 1, "material": 2}
        if not self._found:
            return Feedback(error="There is nothing to filter.")
        if self._shop.ceiling.format(value) == rest and value.isdigit():
            self._found = [at for at in self._found if self._shop.goods[at][3] < int(value)]
        elif name in places:
            if all(one[places[name]] != value for one in self._shop.goods):
                return Feedback(error=f"Unknown value for {name}: {value}.")
            self._found = [at for at in self._found if self._shop.goods[at][places[name]] == value]
        else:
            return Feedback(error=f"Unknown filter {name}.")
        self._page = 0
        return Feedback(observation=self._listed())

    def _listed(self) -> str:
        shown = self._found[self._page * _PAGE : (self._page + 1) * _PAGE]
        lines = [f"{at}: {self._shop.goods[at][0]}, {self._shop.goods[at][3]} dollars" for at in shown]
        return f"{len(self._found)} results. {'; '.join(lines)}".strip()


def prior(task: str, first: str, past: Sequence[Past]) -> list[str]:
    """Search with all words, then with fewer; narrow by each wish, with other words for it where one is refused; buy."""
    words = task.split()
    colour, material, kind, ceiling = words[2], words[3], words[4], words[6]
    tried = {one.action for one in past}
    searches = [
        f"search {colour} {material} {kind}",
        f"search {material} {kind}",
        f"search {colour} {kind}",
        f"search {kind}",
    ]
    hits = [
        at for at, one in enumerate(past) if one.action.startswith("search") and not one.observation.startswith("0 ")
    ]
    if not hits:
        return [one for one in searches if one not in tried]
    since = past[hits[-1] :]
    worked = {one.action.split("=")[0].removeprefix("filter ") for one in since if not one.error and "=" in one.action}
    ceilings = {one.split("=")[0] for one in _CEILINGS}
    wishes = {"colour": _COLOURS[colour], "material": _MATERIALS[material]}
    for name, values in wishes.items():
        if name not in worked:
            left = [f"filter {name}={one}" for one in values if f"filter {name}={one}" not in tried]
            if left:
                return left
    left = [f"filter {one.format(ceiling)}" for one in _CEILINGS if f"filter {one.format(ceiling)}" not in tried]
    if not worked & ceilings and left:
        return left
    if since[-1].action.startswith("open"):
        return ["buy"]
    listed = next((one.observation for one in reversed(since) if "results." in one.observation), "")
    numbers = [one.split(":")[0].strip() for one in listed.partition("results.")[2].split(";") if ":" in one]
    return [f"open {one}" for one in numbers if f"open {one}" not in tried] or ["next"]
