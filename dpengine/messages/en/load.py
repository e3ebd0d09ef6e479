"""What is said while a file becomes a table."""

SENTENCES: dict[str, str] = {
    "load.folder_empty": "This folder holds no file that can be read; put files ending in {kinds} into it.",
    "load.folder_names": "The files of this folder have different columns; a table needs the same first line in each.",
    "load.cancelled": "Loading was stopped. Nothing was kept.",
    "dialect.unreadable": "This description of the file cannot be read; choose separator and encoding again.",
    "dialect.separator": "The separator must be one sign that stands between cells, such as a comma, a semicolon or "
    "a tab.",
    "dialect.quote": "The quote sign must be \" or ', or left empty where no cell is quoted.",
    "dialect.decimal": "The decimal sign must be a point or a comma.",
    "dialect.thousands": "The thousands sign must be one of . , ' or a space, or be left empty; it cannot be the "
    "decimal sign.",
    "dialect.encoding": "Choose the encoding the file was saved in; known are: {encodings}.",
    "dialect.line_breaks": "Say whether cells of this file hold line breaks: yes or no, True or False.",
    "load.bad_records": "Say what to do with damaged lines: choose “refuse” or “empty”.",
    "load.absent": "There is no file there; check the name and choose the file again.",
    "load.unreadable": "This cannot be read as a table; save it again as “CSV UTF-8” and load that file.",
    "load.unwritable": "The table could not be stored; free some space in the workspace folder and load the file "
    "again.",
    "load.empty": "The file is empty; choose the file that holds the table.",
    "load.not_text": "This file is {kind}, not plain text; open it in its own program, save the table as “CSV "
    "UTF-8”, and load that.",
    "load.kind.zip": "a zip archive or a damaged spreadsheet",
    "load.kind.gzip": "a compressed file",
    "load.kind.sheet": "an old spreadsheet, or one with a password",
    "load.kind.pdf": "a PDF",
    "load.kind.database": "a database",
    "load.is_parquet": "This is a Parquet file; give it a name that ends in .parquet and load it again.",
    "load.not_parquet": "This is not a Parquet file; choose another file, or load it under a name that ends in .csv.",
    "load.no_header": "The first line must name the columns; add a line of names at the top of the file.",
    "load.no_names": "The first line looks like data, not names: at least one of its cells is a number or a date. Add a "
    "line with the columns’ names on top (a year as a name can be written y2019).",
    "load.no_rows": "The file names columns and holds no rows; choose a file with at least one row below the first "
    "line.",
    "load.name_blank": "The first line leaves a column without a name; name every column there, and end it without "
    "a separator.",
    "load.name_twice": "The first line names “{column}” twice; give every column a name of its own.",
    "load.many_columns": "A table may have at most {most} columns; keep the ones you want to ask about.",
    "load.header_encoding": "The first line cannot be read as {encoding}; choose the encoding the file was saved in, "
    "or save it again as “CSV UTF-8”.",
    "load.encoding": "Some lines cannot be read as {encoding}; choose the encoding the file was saved in, or choose "
    "to read such lines as empty.",
    "load.ragged": "Some lines have more or fewer cells than the first line; correct the file, or choose to read such "
    "lines as empty.",
    "load.quoting": "Some lines have an open or misplaced quote. If cells of this file hold line breaks, say so; otherwise "
    "correct the quotes, or choose to read such lines as empty.",
    "load.header_quoting": "The first line has an open or misplaced quote. If names or cells of this file hold line breaks, "
    "say so; otherwise correct the quotes, or choose another quote sign.",
    "load.line_end": "Some lines hold a line end of another kind; save the file with one kind of line ends, or choose to "
    "read such lines as empty.",
    "load.broken": "A quote or a line end is misplaced, and where cells hold line breaks that hides where lines end; mend "
    "the file, or say that no cell holds a line break.",
    "load.unclosed": "A quoted cell is opened and never closed; close it in the file, choose another quote sign, or say "
    "that no cell holds a line break.",
    "load.long_line": "Some lines are longer than {most} characters; shorten them, or choose to read such lines as empty.",
    "load.long": "A cell or line is longer than {most} characters; shorten it, or close the quoted cell that runs on.",
    "load.swollen": "This file unpacks to far more than a table of its size holds; save it again as “CSV UTF-8” and load that.",
    "load.column_kind": "The column “{column}” holds lists or bytes, not plain values; leave it out of the file or "
    "write it as text.",
    "engine.unreadable": "The stored table cannot be read; load the file again.",
    "engine.absent": "This table is asked in {engine}, and what that needs is not installed here; whoever runs the program installs {file}. Nothing was spent.",
    "engine.away": "What holds this table did not answer, or no longer has the table; look whether it runs and the table is there, then ask again.",
    "engine.other_spark": "This program works with the Spark at {master} already, and a process has one; ask this table from a program of its own, or through Spark Connect (sc://host:15002). Nothing was spent.",
    "engine.changed": "The coded table of this one in its database is no longer as it was made, so answers could be false. Nothing was spent; bring the table again, under another name: it joins the same allowance.",
    "engine.no_training": "This table is asked where it lies, and a training would read all of it for every step; to train on it, bring the table in as a source. Nothing was spent.",
    "engine.raw_stays": "This table is asked where it lies, by its declared columns alone; to buy what is not declared, bring the table in as a source. Nothing was spent.",
    "engine.rows_stay": "This table is asked where it lies, and its rows stay there, so they cannot be published one by one; to publish them, bring the table in as a source. Nothing was spent.",
    "load.sheet_none": "No sheet of this workbook can be seen; show the one with the table, save it, and bring it again.",
    "load.sheet_absent": "This workbook has no sheet called “{sheet}”; choose one of: {sheets}.",
    "load.sheet_locked": "This spreadsheet has a password; save a copy without one, and bring that.",
    "load.sheet_unreadable": "This spreadsheet cannot be read; open it in its own program, save it as .xlsx or as “CSV UTF-8”, and bring that.",
    "load.sheet_large": "This spreadsheet holds too much text to be read as one; save the sheet as “CSV UTF-8”, and bring that.",
    "load.sheet_formulas": "A cell of this sheet holds a formula without a result; open it in its own program, save it, and bring it again.",
    "dialect.names_row": "The names of a spreadsheet’s columns stand in one of its first {most} rows and take at most {rows} of them; say in which row they begin.",
    "load.heavy": "Reading this file takes more memory or time than one file may; save the table as “CSV UTF-8”, and bring that.",
    "load.names_row_empty": "Row {row} of this sheet holds no names; say which row names the columns.",
    "load.packed_locked": "This archive has a password; unpack it, and bring the file that is in it.",
    "load.packed_many": "This archive holds {many} files, and a table comes from one; unpack it, and bring the one with the table.",
    "load.packed_twice": "This archive holds another archive; unpack it, and bring the file with the table.",
    "load.packed_unreadable": "This archive is damaged; unpack it on your computer, and bring the file that is in it.",
    "load.statistics_locked": "This SPSS file has a password; save a copy without one, and bring that.",
    "load.statistics_unreadable": "This statistics file cannot be read; open it in its own program, save it again or as “CSV UTF-8”, and bring that.",
}
