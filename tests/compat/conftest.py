"""Nothing here may reach LangSmith, whatever the environment says."""

import os

for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"):
    os.environ[name] = "false"
