"""A catalogue of Spark's whose tables have states, as those of Delta Lake and Iceberg do, whose jars are not here: so
that `VERSION AS OF` goes through Spark's own parser and its own interface for such catalogues.

The state `7` of the table `care.visits` is the Parquet in the folder `visits/7`; without a state it is `visits/now`. A
state that is not there is told as the two formats tell it: one says so while the table is looked up, by an error that
is none of Spark's (Iceberg), the other by one of Spark's (Delta Lake).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

NAME = "states"
SOURCE = """
import java.io.File;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.execution.datasources.v2.parquet.ParquetTable;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

public class States implements TableCatalog {
    private String name;
    private String folder;

    public void initialize(String name, CaseInsensitiveStringMap options) {
        this.name = name;
        this.folder = options.get("folder");
    }

    public String name() { return name; }

    public Table loadTable(Identifier ident) throws NoSuchTableException { return at(ident, "now"); }

    public Table loadTable(Identifier ident, String version) throws NoSuchTableException {
        if (version.startsWith("tag") && !new File(path(ident, version)).exists()) {
            throw new IllegalStateException("Cannot find matching snapshot ID or reference name");
        }
        return at(ident, version);
    }

    private String path(Identifier ident, String version) { return folder + "/" + ident.name() + "/" + version; }

    private Table at(Identifier ident, String version) throws NoSuchTableException {
        if (!new File(path(ident, version)).exists()) throw new NoSuchTableException(ident);
        return new ParquetTable(
            ident.name(),
            org.apache.spark.sql.classic.SparkSession.active(),
            CaseInsensitiveStringMap.empty(),
            (scala.collection.immutable.Seq) scala.jdk.javaapi.CollectionConverters.asScala(
                Collections.singletonList(path(ident, version))).toSeq(),
            scala.Option.empty(),
            ParquetFileFormat.class);
    }

    public Identifier[] listTables(String[] namespace) { return new Identifier[0]; }

    public Table createTable(Identifier ident, StructType schema, Transform[] partitions, Map properties) {
        throw new UnsupportedOperationException();
    }

    public Table alterTable(Identifier ident, TableChange[] changes) { throw new UnsupportedOperationException(); }

    public boolean dropTable(Identifier ident) { return false; }

    public void renameTable(Identifier before, Identifier after) { throw new UnsupportedOperationException(); }
}
"""


@contextmanager
def catalogue(session: SparkSession, folder: Path) -> Iterator[str]:
    """The name of a catalogue of the tables in a folder, for all sessions that are made meanwhile. Spark's own compiler
    makes it; only this thread finds it."""
    jvm: Any = session._jvm
    thread = jvm.java.lang.Thread.currentThread()
    before = thread.getContextClassLoader()
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(before)
    compiler.cook(SOURCE)
    settings = session._jsparkSession.sharedState().conf()  # type: ignore[attr-defined]
    thread.setContextClassLoader(compiler.getClassLoader())
    settings.set(f"spark.sql.catalog.{NAME}", "States")
    settings.set(f"spark.sql.catalog.{NAME}.folder", str(folder))
    try:
        yield NAME
    finally:
        thread.setContextClassLoader(before)
        settings.remove(f"spark.sql.catalog.{NAME}")
        settings.remove(f"spark.sql.catalog.{NAME}.folder")
