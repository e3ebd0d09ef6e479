"""What a program reads that asks over HTTP, and what is said of the tokens by which it asks."""

SENTENCES: dict[str, str] = {
    "token.form": "A token needs a name of at most {most} letters, and the tables it is for, or none for all; one for the figures about the server is for no table. Correct it and try again.",
    "token.many": "You have {most} tokens already; take back one that you no longer use, then make a new one.",
    "token.unknown": "There is no such token, or it is not yours; open the list of tokens again.",
    "door.token": "This needs a token of yours that has not been taken back, as “Authorization: Bearer …”. Sign in, make one under your name, and send it.",
    "door.origin": "This address is for programs, not for pages in a browser. Ask from a notebook or a script.",
    "door.path": "There is nothing under this address. What there is stands in /api/v1/openapi.json.",
    "door.method": "This is asked with {method}; nothing was done.",
    "door.type": "What is sent must be JSON, with “Content-Type: application/json”; nothing was done.",
    "door.large": "What was sent is larger than {most} KB; nothing was done. Send less at once.",
    "door.late": "What was to be sent did not come in time; nothing was done. Send it again.",
    "door.json": "What was sent is not one JSON object with plain numbers and few levels; nothing was done. Correct it and send it again.",
    "door.field": "“{field}” is missing, or is not a JSON {kind}; nothing was done. Correct it and send it again.",
    "door.unknown": "Nobody reads “{field}” here; known are {fields}. Nothing was done; correct it and send it again.",
    "door.slow": "That was too much at once. Wait {seconds} {seconds|second|seconds}, then go on.",
    "door.failed": "Something went wrong here. Look the request up under its id before you ask again; the log of the server names the kind of error.",
}
