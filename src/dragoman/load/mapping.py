"""The fixed table from LangChain's ids to classes of this package.

`load` builds a class only if its id stands here (or in the caller's own list), and imports only
the modules named here: an id in stored data is looked up, never imported. An id is the path under
which LangChain stores a class, the path of its module today, or the short path its JavaScript
side writes.
"""

__all__ = ["CORE", "MESSAGES", "NAMESPACES", "PARTNERS", "TABLE", "target"]

Id = tuple[str, ...]
Target = tuple[str, str]
"""Module and class name."""

NAMESPACES = (
    "langchain",
    "langchain_core",
    "langchain_community",
    "langchain_anthropic",
    "langchain_aws",
    "langchain_fireworks",
    "langchain_google_genai",
    "langchain_google_vertexai",
    "langchain_groq",
    "langchain_mistralai",
    "langchain_ollama",
    "langchain_openai",
    "langchain_openrouter",
    "langchain_perplexity",
    "langchain_sambanova",
    "langchain_xai",
    "langchain_deepseek",
    "dragoman",
)
"""Roots an id may have; others need `valid_namespaces`."""

# (the path LangChain stores, the module below `langchain_core` and `dragoman`, class names)
_ROWS: list[tuple[str, str, str]] = [
    ("langchain.schema.messages", "messages.ai", "AIMessage AIMessageChunk"),
    ("langchain.schema.messages", "messages.human", "HumanMessage HumanMessageChunk"),
    ("langchain.schema.messages", "messages.system", "SystemMessage SystemMessageChunk"),
    ("langchain.schema.messages", "messages.tool", "ToolMessage ToolMessageChunk"),
    ("langchain.schema.messages", "messages.modifier", "RemoveMessage"),
    ("langchain.schema.messages", "messages.chat", "ChatMessage ChatMessageChunk"),
    ("langchain.schema.messages", "messages.function", "FunctionMessage FunctionMessageChunk"),
    ("langchain.schema.document", "documents.base", "Document"),
    ("langchain.schema.output", "outputs.generation", "Generation GenerationChunk"),
    ("langchain.schema.output", "outputs.chat_generation", "ChatGeneration ChatGenerationChunk"),
    ("langchain.prompts.base", "prompt_values", "StringPromptValue"),
    ("langchain.prompts.chat", "prompt_values", "ChatPromptValue ChatPromptValueConcrete"),
    ("langchain.schema.prompt", "prompt_values", "ImagePromptValue"),
    ("langchain.prompts.prompt", "prompts.prompt", "PromptTemplate"),
    (
        "langchain.prompts.chat",
        "prompts.chat",
        (
            "ChatPromptTemplate MessagesPlaceholder HumanMessagePromptTemplate AIMessagePromptTemplate"
            " SystemMessagePromptTemplate ChatMessagePromptTemplate _StringImageMessagePromptTemplate"
        ),
    ),
    ("langchain.prompts.image", "prompts.image", "ImagePromptTemplate"),
    (
        "langchain.prompts.few_shot_with_templates",
        "prompts.few_shot_with_templates",
        "FewShotPromptWithTemplates",
    ),
    ("langchain_core.prompts.dict", "prompts.dict", "DictPromptTemplate"),
    ("langchain_core.prompts.structured", "prompts.structured", "StructuredPrompt"),
    ("langchain.schema.output_parser", "output_parsers.string", "StrOutputParser"),
    (
        "langchain.output_parsers.list",
        "output_parsers.list",
        "CommaSeparatedListOutputParser MarkdownListOutputParser NumberedListOutputParser",
    ),
    (
        "langchain.schema.runnable",
        "runnables.base",
        "RunnableSequence RunnableParallel RunnableBinding RunnableEach",
    ),
    ("langchain.schema.runnable", "runnables.branch", "RunnableBranch"),
    ("langchain.schema.runnable", "runnables.fallbacks", "RunnableWithFallbacks"),
    (
        "langchain.schema.runnable",
        "runnables.passthrough",
        "RunnablePassthrough RunnableAssign RunnablePick",
    ),
    ("langchain.schema.runnable", "runnables.retry", "RunnableRetry"),
    ("langchain.schema.runnable", "runnables.router", "RouterRunnable"),
    (
        "langchain.schema.runnable",
        "runnables.configurable",
        "RunnableConfigurableFields RunnableConfigurableAlternatives",
    ),
    ("langchain.schema.runnable", "runnables.history", "RunnableWithMessageHistory"),
]

# Ids of earlier versions: (id, module, class name).
_LEGACY: list[tuple[str, str, str]] = [
    (
        "langchain_core.prompts.message._DictMessagePromptTemplate",
        "dragoman.prompts.dict",
        "DictPromptTemplate",
    ),
]

# Models of partner packages, for `allowed_objects="all"`: id -> a door of `dragoman.chat_models`.
_PARTNER_ROWS: list[tuple[str, str]] = [
    ("langchain.chat_models.openai.ChatOpenAI", "ChatOpenAI"),
    ("langchain.chat_models.azure_openai.AzureChatOpenAI", "AzureChatOpenAI"),
    ("langchain.chat_models.anthropic.ChatAnthropic", "ChatAnthropic"),
    ("langchain.chat_models.mistralai.ChatMistralAI", "ChatMistralAI"),
    ("langchain_groq.chat_models.ChatGroq", "ChatGroq"),
    ("langchain_xai.chat_models.ChatXAI", "ChatXAI"),
    ("langchain_openrouter.chat_models.ChatOpenRouter", "ChatOpenRouter"),
    ("langchain_aws.chat_models.ChatBedrockConverse", "ChatBedrockConverse"),
    ("langchain_google_genai.chat_models.ChatGoogleGenerativeAI", "ChatGoogleGenerativeAI"),
]

_UNTRUSTED = (
    "messages.ai",
    "messages.human",
    "messages.system",
    "messages.tool",
    "messages.modifier",
)


def _build() -> tuple[dict[Id, Target], set[Id], set[Id]]:
    table: dict[Id, Target] = {}
    messages: set[Id] = set()
    plain: set[Id] = set()
    for stored, module, names in _ROWS:
        package = module.split(".")[0]
        for name in names.split():
            ids = {
                (*stored.split("."), name),
                ("langchain_core", *module.split("."), name),
                ("langchain_core", package, name),
                ("dragoman", *module.split("."), name),
            }
            table.update(dict.fromkeys(ids, (f"dragoman.{module}", name)))
            if package == "messages":
                messages |= ids
            if module in _UNTRUSTED:
                plain |= ids
    for identifier, module, name in _LEGACY:
        table[tuple(identifier.split("."))] = (module, name)
    return table, messages, plain


TABLE, MESSAGES, PLAIN_MESSAGES = _build()
"""Id -> module and class; the ids of all message classes; those of `allowed_objects="messages"`."""

CORE = frozenset(TABLE)

PARTNERS: dict[Id, Target] = {
    tuple(identifier.split(".")): ("dragoman.chat_models", name)
    for identifier, name in _PARTNER_ROWS
}


def target(identifier: Id) -> Target | None:
    """Return module and class for an id, or None.

    >>> target(("langchain", "schema", "messages", "AIMessage"))
    ('dragoman.messages.ai', 'AIMessage')
    """
    return TABLE.get(identifier) or PARTNERS.get(identifier)
