"""Glossary: every special word in a sentence or two."""

from __future__ import annotations

from ui.learn import glossary

glossary.show()
