"""Learning from runs: recording, distilling, recalling, reflecting, exploring (ReasoningBank, MaTTS, CFGM)."""
