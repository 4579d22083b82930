"""LangChain tools over a user's memory."""
