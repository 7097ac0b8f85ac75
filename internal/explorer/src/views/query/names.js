// Names that the editor completes. TestExplorerNames in internal/explorer_names_test.go compares them with the tables of
// the two languages; what follows the = is JSON for that.
export const names = {
  "keywords": [
    "SELECT", "DISTINCT", "TOP", "VALUE", "FROM", "JOIN", "IN", "WHERE", "AND", "OR", "NOT", "BETWEEN", "LIKE",
    "ESCAPE", "EXISTS", "ARRAY", "AS", "GROUP", "BY", "ORDER", "ASC", "DESC", "OFFSET", "LIMIT", "TRUE", "FALSE",
    "NULL", "UNDEFINED", "UDF"
  ],
  "functions": {
    "Array": [
      "ARRAY_AVG", "ARRAY_CONCAT", "ARRAY_CONTAINS", "ARRAY_CONTAINS_ALL", "ARRAY_CONTAINS_ANY", "ARRAY_LENGTH",
      "ARRAY_MAX", "ARRAY_MEDIAN", "ARRAY_MIN", "ARRAY_SLICE", "ARRAY_SUM", "CHOOSE", "OBJECTTOARRAY",
      "SETDIFFERENCE", "SETEQUAL", "SETINTERSECT", "SETUNION"
    ],
    "Conditional": [
      "IIF"
    ],
    "Date and time": [
      "AGO", "DATETIMEADD", "DATETIMEBIN", "DATETIMEDIFF", "DATETIMEFORMAT", "DATETIMEFROMPARTS", "DATETIMEPART",
      "DATETIMETOTICKS", "DATETIMETOTIMESTAMP", "DAY", "GETCURRENTDATETIME", "GETCURRENTDATETIMESTATIC",
      "GETCURRENTTICKS", "GETCURRENTTICKSSTATIC", "GETCURRENTTIMESTAMP", "GETCURRENTTIMESTAMPSTATIC", "MONTH", "NOW",
      "TICKSTODATETIME", "TIMESTAMPTODATETIME", "YEAR"
    ],
    "Full text search": [
      "FULLTEXTCONTAINS", "FULLTEXTCONTAINSALL", "FULLTEXTCONTAINSANY", "FULLTEXTSCORE", "RRF", "_FULLTEXTSCORE",
      "_FULLTEXTWORDCOUNT"
    ],
    "Item": [
      "DOCUMENTID"
    ],
    "Mathematical": [
      "ABS", "ACOS", "ASIN", "ATAN", "ATN2", "CEILING", "COS", "COT", "DEGREES", "EXP", "FLOOR", "LOG", "LOG10",
      "NUMBERBIN", "PI", "POWER", "RADIANS", "RAND", "ROUND", "SIGN", "SIN", "SQRT", "SQUARE", "TAN", "TRUNC",
      "INTADD", "INTBITAND", "INTBITLEFTSHIFT", "INTBITNOT", "INTBITOR", "INTBITRIGHTSHIFT", "INTBITXOR", "INTDIV",
      "INTMOD", "INTMUL", "INTSUB"
    ],
    "Spatial": [
      "ST_AREA", "ST_DISTANCE", "ST_INTERSECTS", "ST_ISVALID", "ST_ISVALIDDETAILED", "ST_WITHIN"
    ],
    "String": [
      "CONCAT", "CONTAINS", "CONTAINS_ALL_CI", "CONTAINS_ALL_CS", "CONTAINS_ANY_CI", "CONTAINS_ANY_CS", "ENDSWITH",
      "INDEX_OF", "LASTINDEXOF", "LASTSUBSTRINGAFTER", "LASTSUBSTRINGBEFORE", "LEFT", "LENGTH", "LOWER", "LTRIM",
      "REGEXEXTRACT", "REGEXEXTRACTALL", "REGEXMATCH", "REGEXREPLACE", "REGEXREPLACEALL", "REPLACE", "REPLICATE",
      "REVERSE", "RIGHT", "RTRIM", "STARTSWITH", "STRINGEQUALS", "STRINGJOIN", "STRINGSPLIT", "STRINGTOARRAY",
      "STRINGTOBOOLEAN", "STRINGTONULL", "STRINGTONUMBER", "STRINGTOOBJECT", "SUBSTRING", "SUBSTRINGAFTER",
      "SUBSTRINGBEFORE", "TOSTRING", "TRIM", "UPPER"
    ],
    "Type checking": [
      "IS_ARRAY", "IS_BOOL", "IS_DATETIME", "IS_DEFINED", "IS_FINITE_NUMBER", "IS_INTEGER", "IS_NULL", "IS_NUMBER",
      "IS_OBJECT", "IS_PRIMITIVE", "IS_STRING"
    ],
    "Vector": [
      "VECTORDISTANCE", "_VECTORSCORE"
    ]
  },
  "stages": [
    "$addFields", "$bucket", "$bucketAuto", "$collStats", "$count", "$densify", "$facet", "$fill", "$graphLookup",
    "$group", "$indexStats", "$limit", "$lookup", "$match", "$merge", "$out", "$planCacheStats", "$project",
    "$redact", "$replaceRoot", "$replaceWith", "$sample", "$set", "$setWindowFields", "$skip", "$sort",
    "$sortByCount", "$unionWith", "$unset", "$unwind"
  ],
  "otherStages": [
    "$changeStream", "$changeStreamSplitLargeEvent", "$currentOp", "$documents", "$geoNear", "$listLocalSessions",
    "$listSampledQueries", "$listSearchIndexes", "$listSessions", "$queryStats", "$search", "$searchMeta",
    "$shardedDataDistribution", "$vectorSearch"
  ],
  "filter": [
    "$all", "$alwaysFalse", "$alwaysTrue", "$and", "$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet",
    "$comment", "$db", "$elemMatch", "$eq", "$exists", "$expr", "$geoIntersects", "$geoNear", "$geoWithin", "$gt",
    "$gte", "$id", "$in", "$jsonSchema", "$lt", "$lte", "$maxDistance", "$meta", "$minDistance", "$mod", "$ne",
    "$near", "$nearSphere", "$nin", "$nor", "$not", "$options", "$or", "$ref", "$regex", "$sampleRate", "$size",
    "$text", "$type", "$where", "$within"
  ],
  "expressions": [
    "$abs", "$accumulator", "$acos", "$acosh", "$add", "$allElementsTrue", "$and", "$anyElementTrue",
    "$arrayElemAt", "$arrayToObject", "$asin", "$asinh", "$atan", "$atan2", "$atanh", "$avg", "$binarySize",
    "$bitAnd", "$bitNot", "$bitOr", "$bitXor", "$bsonSize", "$ceil", "$cmp", "$concat", "$concatArrays", "$cond",
    "$const", "$convert", "$cos", "$cosh", "$dateAdd", "$dateDiff", "$dateFromParts", "$dateFromString",
    "$dateSubtract", "$dateToParts", "$dateToString", "$dateTrunc", "$dayOfMonth", "$dayOfWeek", "$dayOfYear",
    "$degreesToRadians", "$divide", "$eq", "$exp", "$filter", "$first", "$firstN", "$floor", "$function",
    "$getField", "$gt", "$gte", "$hour", "$ifNull", "$in", "$indexOfArray", "$indexOfBytes", "$indexOfCP",
    "$isArray", "$isNumber", "$isoDayOfWeek", "$isoWeek", "$isoWeekYear", "$last", "$lastN", "$let", "$literal",
    "$ln", "$log", "$log10", "$lt", "$lte", "$ltrim", "$map", "$max", "$maxN", "$median", "$mergeObjects", "$meta",
    "$millisecond", "$min", "$minN", "$minute", "$mod", "$month", "$multiply", "$ne", "$not", "$objectToArray",
    "$or", "$percentile", "$pow", "$radiansToDegrees", "$rand", "$range", "$reduce", "$regexFind", "$regexFindAll",
    "$regexMatch", "$replaceAll", "$replaceOne", "$reverseArray", "$round", "$rtrim", "$second", "$setDifference",
    "$setEquals", "$setField", "$setIntersection", "$setIsSubset", "$setUnion", "$sin", "$sinh", "$size", "$slice",
    "$sortArray", "$split", "$sqrt", "$stdDevPop", "$stdDevSamp", "$strLenBytes", "$strLenCP", "$strcasecmp",
    "$substr", "$substrBytes", "$substrCP", "$subtract", "$sum", "$switch", "$tan", "$tanh", "$toBool", "$toDate",
    "$toDecimal", "$toDouble", "$toInt", "$toLong", "$toLower", "$toObjectId", "$toString", "$toUpper", "$trim",
    "$trunc", "$tsIncrement", "$tsSecond", "$type", "$unsetField", "$week", "$year", "$zip"
  ],
  "accumulators": [
    "$addToSet", "$avg", "$bottom", "$bottomN", "$count", "$first", "$firstN", "$last", "$lastN", "$max", "$maxN",
    "$median", "$mergeObjects", "$min", "$minN", "$percentile", "$push", "$stdDevPop", "$stdDevSamp", "$sum", "$top", "$topN"
  ]
};
