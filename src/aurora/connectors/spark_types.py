"""Aurora's types and Spark's: what an output is in Spark, and which columns of Spark's can feed a stream."""

from __future__ import annotations

from pyspark.sql import types as spark

from aurora.errors import InputError
from aurora.model import types
from aurora.model.schema import Schema
from aurora.model.types import Type

_SPARK: dict[Type, spark.DataType] = {
    types.BOOL: spark.BooleanType(),
    types.INT: spark.LongType(),
    types.DOUBLE: spark.DoubleType(),
    types.STRING: spark.StringType(),
    types.TIMESTAMP: spark.TimestampType(),
    types.DURATION: spark.DayTimeIntervalType(),
    types.BINARY: spark.BinaryType(),
}

_FITTING: dict[Type, tuple[type[spark.DataType], ...]] = {
    types.BOOL: (spark.BooleanType,),
    types.INT: (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType),
    types.DOUBLE: (
        spark.ByteType,
        spark.ShortType,
        spark.IntegerType,
        spark.LongType,
        spark.FloatType,
        spark.DoubleType,
        spark.DecimalType,
    ),
    types.STRING: (spark.StringType,),
    types.TIMESTAMP: (spark.TimestampType, spark.TimestampNTZType, spark.DateType),
    types.DURATION: (spark.DayTimeIntervalType,),
    types.BINARY: (spark.BinaryType,),
}


def spark_type(kind: Type) -> spark.DataType:
    return _SPARK[kind] if kind.item is None else spark.ArrayType(spark_type(kind.item))


def spark_schema(schema: Schema) -> spark.StructType:
    """What a stream of the schema is in Spark."""
    return spark.StructType([spark.StructField(name, spark_type(kind)) for name, kind in schema.items()])


def check_fits(found: spark.StructType, schema: Schema, stream: str) -> None:
    """Raises InputError that names every column of the stream that a DataFrame lacks or has with another type."""
    wrong = []
    for name, kind in schema.items():
        if name not in found.fieldNames():
            wrong.append(f"it has no column {name} ({kind})")
        elif not _fits(found[name].dataType, kind):
            wanted = spark_type(kind).simpleString()
            wrong.append(
                f"its column {name} is {found[name].dataType.simpleString()}, not {kind}: "
                f'cast it with .withColumn("{name}", col("{name}").cast("{wanted}"))'
            )
    if wrong:
        raise InputError(
            f"the DataFrame does not fit the stream {stream}: {'; '.join(wrong)}; it has {found.simpleString()}"
        )


def _fits(found: spark.DataType, kind: Type) -> bool:
    if kind.item is not None:
        return isinstance(found, spark.ArrayType) and _fits(found.elementType, kind.item)
    return isinstance(found, _FITTING[kind])
