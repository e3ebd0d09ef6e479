"""The first look."""

from __future__ import annotations

SENTENCES: dict[str, str] = {
    "card.overview.title": "First look",
    "card.overview.noun": "first look",
    "card.overview.plain": "How many people there are in each value or group of many columns, bought together: then look as often as you like.",
    "card.overview.theorem": "Discrete Gaussian mechanism on the residuals of the counts (Canonne, Kamath, Steinke 2020, Theorem 14; Xiao, He, Zhang, Kifer 2023)",
    "card.overview.caveat.bins": "Numbers and dates are told in groups that follow from their declared range.",
    "card.overview.caveat.estimated": "Combinations that were not bought are estimated, without a promise.",
    "sentence.overview": "A first look at {columns} {columns|column|columns}",
    "sentence.overview_against": "A first look at {columns} {columns|column|columns}, each also by {against}",
    "sentence.overview_every": "A first look at {columns} {columns|column|columns}, every two of them together",
    "param.against.label": "Columns of interest",
    "param.against.help": "One or two columns that every other column is also counted against.",
    "param.three.label": "All three together",
    "param.three.help": "Every other column against both columns of interest at once.",
    "param.weights.label": "What matters most",
    "param.weights.help": "A column with a larger weight gets less noise, and the others more.",
    "param.spread.label": "How noise is spread",
    "param.spread.help": "“level”: all figures about equally exact. Left out: as first looks of earlier versions had it.",
    "overview.columns": "Choose from 1 to {most} different columns; a column of sets cannot be in a first look.",
    "overview.against": "Choose at most {most} columns of interest, from the columns of the first look.",
    "overview.weights": "Give weights above 0 and at most 1,000, to columns of the first look.",
    "overview.cells": "Too many combinations: {columns} have {cells} together, and at most {most} fit. Leave one of them out, or put it into fewer groups.",
    "overview.numbers": "Too many combinations: {cells} in all, and at most {most} fit. Leave some columns out, or name fewer columns of interest.",
    "overview.misfit": "does not fit",
    "look.column": "“{column}” is not in this first look.",
    "look.label": "Choose from the values that “{column}” has in this first look.",
    "look.mean": "“{column}” is no column of numbers in groups, so it has no average here.",
    "look.percentile": "“{column}” has no order here, or the percentile is not a quarter, a half or three quarters.",
}
