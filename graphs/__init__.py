"""LangGraph state machines: ingest, research, memory (both, as one drop-in subgraph), chat, experience."""
