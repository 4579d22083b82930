"""Researches in a parent graph under a SQLite saver, and dies in the lane search that it is told to; see the test beside it.

Arguments: the home, the saver's file, the number of the search in which to die (0: never), whether to resume.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from hexamem import Memory, Settings
from hexamem.graphs.research import build_research_graph
from hexamem.graphs.research_state import ResearchContext


class Hosts(TypedDict, total=False):
    question: str
    max_rounds: int
    passages: int
    answer: str
    research: dict[str, Any]


def main(home: str, file: str, die_in: int, resume: bool) -> dict[str, Any]:
    searches: list[str] = []
    with Memory.open(home, settings=Settings(background=False, mode="off")) as memory:
        parts = memory.researching.parts()
        keyword = parts.lanes["keyword"]

        def counted(user: str, request: Any, pool: int) -> Any:
            searches.append(request.query)
            if len(searches) == die_in:
                os._exit(9)
            return keyword(user, request, pool)

        graph = StateGraph(Hosts, ResearchContext)
        graph.add_node("research", build_research_graph(replace(parts, lanes={**parts.lanes, "keyword": counted})))
        graph.add_edge(START, "research")
        graph.add_edge("research", END)
        with SqliteSaver.from_conn_string(file) as saver:
            host = graph.compile(checkpointer=saver)
            given = None if resume else Hosts(question="What did Theo and Nora do and where?", max_rounds=3, passages=1)
            config = {"configurable": {"thread_id": "one"}}
            out = host.invoke(given, config, context=ResearchContext(user="nora"), durability="sync")
    rounds = [one["number"] for one in out["research"]["rounds"]]
    return {"answer": out["answer"], "rounds": rounds, "searches": searches}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "resume")
