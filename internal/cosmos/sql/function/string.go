package function

import "strings"

// Notes on functions whose documentation is incomplete.
const (
	noteDelimiter = "The reference does not document the result if the delimiter is not in the string. It is an " +
		"empty string."
	noteRegex = "Patterns are those of .NET. A pattern of more than 4096 bytes, or a match that takes more than a " +
		"tenth of a second, is an error."
)

var stringFunctions = []Function{
	{Name: "CONCAT", Family: "String", Min: 2, Max: -1, Run: concat},
	{Name: "CONTAINS", Family: "String", Min: 2, Max: 3, Run: contains},
	{Name: "CONTAINS_ALL_CI", Family: "String", Min: 2, Max: -1, Run: containsMany(false, true)},
	{Name: "CONTAINS_ALL_CS", Family: "String", Min: 2, Max: -1, Run: containsMany(false, false)},
	{Name: "CONTAINS_ANY_CI", Family: "String", Min: 2, Max: -1, Run: containsMany(true, true)},
	{Name: "CONTAINS_ANY_CS", Family: "String", Min: 2, Max: -1, Run: containsMany(true, false)},
	{Name: "ENDSWITH", Family: "String", Min: 2, Max: 3, Run: endsWith},
	{Name: "INDEX_OF", Family: "String", Min: 2, Max: 3, Run: indexOf},
	{Name: "LASTINDEXOF", Family: "String", Min: 2, Max: 3, Run: lastIndexOf},
	{Name: "LASTSUBSTRINGAFTER", Family: "String", Min: 2, Max: 2, Run: around(strings.LastIndex, true),
		Note: noteDelimiter},
	{Name: "LASTSUBSTRINGBEFORE", Family: "String", Min: 2, Max: 2, Run: around(strings.LastIndex, false),
		Note: noteDelimiter},
	{Name: "LEFT", Family: "String", Min: 2, Max: 2, Run: left},
	{Name: "LENGTH", Family: "String", Min: 1, Max: 1, Run: length},
	{Name: "LOWER", Family: "String", Min: 1, Max: 1, Run: lower},
	{Name: "LTRIM", Family: "String", Min: 1, Max: 2, Run: trimmed(true, false)},
	{Name: "REGEXEXTRACT", Family: "String", Min: 2, Max: 4, Run: regexExtract, Note: noteRegex},
	{Name: "REGEXEXTRACTALL", Family: "String", Min: 2, Max: 4, Run: regexExtractAll, Note: noteRegex},
	{Name: "REGEXMATCH", Family: "String", Min: 2, Max: 3, Run: regexMatch, Note: noteRegex},
	{Name: "REGEXREPLACE", Family: "String", Min: 3, Max: 4, Run: regexReplace(1), Note: noteRegex},
	{Name: "REGEXREPLACEALL", Family: "String", Min: 3, Max: 4, Run: regexReplace(-1), Note: noteRegex},
	{Name: "REPLACE", Family: "String", Min: 3, Max: 3, Run: replace},
	{Name: "REPLICATE", Family: "String", Min: 2, Max: 2, Run: replicate},
	{Name: "REVERSE", Family: "String", Min: 1, Max: 1, Run: reverse},
	{Name: "RIGHT", Family: "String", Min: 2, Max: 2, Run: right},
	{Name: "RTRIM", Family: "String", Min: 1, Max: 2, Run: trimmed(false, true)},
	{Name: "STARTSWITH", Family: "String", Min: 2, Max: 3, Run: startsWith},
	{Name: "STRINGEQUALS", Family: "String", Min: 2, Max: 3, Run: stringEquals},
	{Name: "STRINGJOIN", Family: "String", Min: 2, Max: 2, Run: stringJoin},
	{Name: "STRINGSPLIT", Family: "String", Min: 2, Max: 2, Run: stringSplit},
	{Name: "STRINGTOARRAY", Family: "String", Min: 1, Max: 1, Run: parsed("[")},
	{Name: "STRINGTOBOOLEAN", Family: "String", Min: 1, Max: 1, Run: parsed("tf")},
	{Name: "STRINGTONULL", Family: "String", Min: 1, Max: 1, Run: parsed("n")},
	{Name: "STRINGTONUMBER", Family: "String", Min: 1, Max: 1, Run: parsed("-0123456789")},
	{Name: "STRINGTOOBJECT", Family: "String", Min: 1, Max: 1, Run: parsed("{")},
	{Name: "SUBSTRING", Family: "String", Min: 3, Max: 3, Run: substring},
	{Name: "SUBSTRINGAFTER", Family: "String", Min: 2, Max: 2, Run: around(strings.Index, true), Note: noteDelimiter},
	{Name: "SUBSTRINGBEFORE", Family: "String", Min: 2, Max: 2, Run: around(strings.Index, false), Note: noteDelimiter},
	{Name: "TOSTRING", Family: "String", Min: 1, Max: 1, Run: toString},
	{Name: "TRIM", Family: "String", Min: 1, Max: 2, Run: trimmed(true, true)},
	{Name: "UPPER", Family: "String", Min: 1, Max: 1, Run: upper},
}
