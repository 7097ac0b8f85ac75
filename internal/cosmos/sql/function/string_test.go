package function

import (
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Cases before the empty line of each function are examples from its page in the query language's reference.

func TestStringSearch(t *testing.T) {
	runCalls(t, []callCase{
		{"CONTAINS", `"AdventureWorks", "Adventure"`, `true`},
		{"CONTAINS", `"AdventureWorks", "Works"`, `true`},
		{"CONTAINS", `"AdventureWorks", "adventure"`, `false`},
		{"CONTAINS", `"AdventureWorks", "adventure", false`, `false`},
		{"CONTAINS", `"AdventureWorks", "works", true`, `true`},
		{"CONTAINS", `"AdventureWorks", "Contoso"`, `false`},

		{"CONTAINS", `"abc", ""`, `true`},
		{"CONTAINS", `"", ""`, `true`},
		{"CONTAINS", `"", "", true`, `true`},
		{"CONTAINS", `"abc", "b", undefined`, `true`},
		{"CONTAINS", `"abc", "b", null`, `undefined`},
		{"CONTAINS", `"abc", 1`, `undefined`},
		{"CONTAINS", `undefined, "a"`, `undefined`},
		{"CONTAINS", `"a\u0000b", "\u0000b"`, `true`},
		{"CONTAINS", `"xxaXaXab", "AAAB", true`, `false`},
		{"CONTAINS", `"xxaXaAaAb", "aaAB", true`, `true`},
		{"CONTAINS", `"straße ÉCLAIR", "éclair", true`, `true`},
		{"CONTAINS", `"\u212aelvin", "kelvin", true`, `false`},
		{"CONTAINS", `"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOP", "bcdefghijklmnopqrstuvwxyzabcdefghijkl", true`,
			`true`},

		{"CONTAINS_ALL_CI", `"Have a nice day!", "have", "nice", "day!"`, `true`},
		{"CONTAINS_ALL_CI", `"Have a nice day!", "HAVE", "NICE", "DAY!"`, `true`},
		{"CONTAINS_ALL_CI", `"Have a nice day!", "had", "nice", "day!"`, `false`},
		{"CONTAINS_ALL_CI", `"Have a nice day!", undefined, "nice", "day!"`, `undefined`},
		{"CONTAINS_ALL_CI", `"Have a nice day!", undefined, "had"`, `false`},
		{"CONTAINS_ALL_CS", `"Have a nice day!", "Have", "nice", "day!"`, `true`},
		{"CONTAINS_ALL_CS", `"Have a nice day!", "HAVE", "NICE", "DAY!"`, `false`},
		{"CONTAINS_ALL_CS", `"Have a nice day!", undefined, "nice", "day!"`, `undefined`},
		{"CONTAINS_ALL_CS", `"Have a nice day!", undefined, "had"`, `false`},
		{"CONTAINS_ANY_CI", `"Have a nice day!", "HAVE", "NICE", "DAY!"`, `true`},
		{"CONTAINS_ANY_CI", `"Have a nice day!", "had", "nice", "day!"`, `true`},
		{"CONTAINS_ANY_CI", `"Have a nice day!", undefined, "nice", "day!"`, `true`},
		{"CONTAINS_ANY_CI", `"Have a nice day!", undefined, "had"`, `undefined`},
		{"CONTAINS_ANY_CS", `"Have a nice day!", "HAVE", "NICE"`, `false`},

		{"CONTAINS_ANY_CS", `1, "HAVE", "NICE"`, `undefined`},
		{"CONTAINS_ALL_CS", `undefined, "HAVE"`, `undefined`},

		{"ENDSWITH", `"AdventureWorks", "Adventure"`, `false`},
		{"ENDSWITH", `"AdventureWorks", "Works"`, `true`},
		{"ENDSWITH", `"AdventureWorks", "works"`, `false`},
		{"ENDSWITH", `"AdventureWorks", "works", false`, `false`},
		{"ENDSWITH", `"AdventureWorks", "works", true`, `true`},

		{"ENDSWITH", `"works", "AdventureWorks", true`, `false`},
		{"ENDSWITH", `"CAFÉ", "fé", true`, `true`},
		{"ENDSWITH", `"a", ""`, `true`},
		{"ENDSWITH", `"a", undefined`, `undefined`},

		{"STARTSWITH", `"AdventureWorks", "Adventure"`, `true`},
		{"STARTSWITH", `"AdventureWorks", "Works"`, `false`},
		{"STARTSWITH", `"AdventureWorks", "adventure"`, `false`},
		{"STARTSWITH", `"AdventureWorks", "adventure", true`, `true`},

		{"STARTSWITH", `"éCole", "Éco", true`, `true`},
		{"STARTSWITH", `"a", "ab", true`, `false`},
		{"STARTSWITH", `"a", "", true`, `true`},
		{"STARTSWITH", `null, "a"`, `undefined`},

		{"STRINGEQUALS", `"AdventureWorks", "AdventureWorks"`, `true`},
		{"STRINGEQUALS", `"AdventureWorks", "adventureworks"`, `false`},
		{"STRINGEQUALS", `"AdventureWorks", "adventureworks", true`, `true`},

		{"STRINGEQUALS", `"abc", "ab", true`, `false`},
		{"STRINGEQUALS", `"ab", "abc", true`, `false`},
		{"STRINGEQUALS", `1, 1`, `undefined`},

		{"INDEX_OF", `"AdventureWorks", "A"`, `0`},
		{"INDEX_OF", `"AdventureWorks", "s"`, `13`},
		{"INDEX_OF", `"AdventureWorks", "Works"`, `9`},
		{"INDEX_OF", `"AdventureWorks", "tureW"`, `5`},
		{"INDEX_OF", `"AdventureWorks", "Cosmos"`, `-1`},
		{"INDEX_OF", `"AdventureWorks", "Works", 5`, `9`},
		{"INDEX_OF", `"AdventureWorks", "Adventure", 5`, `-1`},
		{"INDEX_OF", `"AdventureWorks", "aD"`, `-1`},

		{"INDEX_OF", `"😀b", "b"`, `2`},
		{"INDEX_OF", `"😀b😀b", "b", 3`, `5`},
		{"INDEX_OF", `"😀b", "b", 1`, `2`},
		{"INDEX_OF", `"abc", "", 2`, `2`},
		{"INDEX_OF", `"abc", "", 4`, `-1`},
		{"INDEX_OF", `"abc", "a", -5`, `0`},
		{"INDEX_OF", `"abc", "a", 0.5`, `undefined`},
		{"INDEX_OF", `"abc", "c", 1.0`, `2`},
		{"INDEX_OF", `"abc", 1`, `undefined`},

		{"LASTINDEXOF", `"abcdeabc", "abc"`, `5`},
		{"LASTINDEXOF", `"abcdeabc", "abc", 6`, `0`},
		{"LASTINDEXOF", `"abcdeabc", "abc", 7`, `5`},
		{"LASTINDEXOF", `"abcdeabc", "fg"`, `-1`},

		{"LASTINDEXOF", `"abc", ""`, `3`},
		{"LASTINDEXOF", `"abc", "a", -1`, `-1`},
		{"LASTINDEXOF", `"a😀a", "a", 2`, `0`},
		{"LASTINDEXOF", `"a😀a", "a", 3`, `3`},
		{"LASTINDEXOF", `"abc", "c", "x"`, `undefined`},
		{"LASTINDEXOF", `undefined, "c"`, `undefined`},

		{"SUBSTRINGBEFORE", `"contoso|north|2026", "|"`, `"contoso"`},
		{"SUBSTRINGBEFORE", `"bike::touring::frame", "::"`, `"bike"`},
		{"SUBSTRINGAFTER", `"contoso|north|2026", "|"`, `"north|2026"`},
		{"SUBSTRINGAFTER", `"bike::touring::frame", "::"`, `"touring::frame"`},
		{"LASTSUBSTRINGBEFORE", `"/products/shoes/boots", "/"`, `"/products/shoes"`},
		{"LASTSUBSTRINGBEFORE", `"bike::touring::frame", "::"`, `"bike::touring"`},
		{"LASTSUBSTRINGAFTER", `"/products/shoes/boots", "/"`, `"boots"`},
		{"LASTSUBSTRINGAFTER", `"bike::touring::frame", "::"`, `"frame"`},

		{"SUBSTRINGAFTER", `"abc", "x"`, `""`},
		{"SUBSTRINGBEFORE", `"abc", "x"`, `""`},
		{"SUBSTRINGAFTER", `"abc", "c"`, `""`},
		{"SUBSTRINGBEFORE", `"abc", null`, `undefined`},
	})
}

func TestStringParts(t *testing.T) {
	runCalls(t, []callCase{
		{"LENGTH", `"AdventureWorks"`, `14`},
		{"LENGTH", `""`, `0`},

		{"LENGTH", `"a\u0000b"`, `3`},
		{"LENGTH", `"12345678é😀x"`, `12`},
		{"LENGTH", `undefined`, `undefined`},
		{"LENGTH", `[1]`, `undefined`},

		{"LEFT", `"AdventureWorks", 0`, `""`},
		{"LEFT", `"AdventureWorks", 9`, `"Adventure"`},
		{"LEFT", `"AdventureWorks", 14`, `"AdventureWorks"`},
		{"LEFT", `"AdventureWorks", 100`, `"AdventureWorks"`},

		{"LEFT", `"abc", -1`, `""`},
		{"LEFT", `"abc", 1.5`, `undefined`},
		{"LEFT", `"abc", 2.0`, `"ab"`},
		{"LEFT", `"abc", "2"`, `undefined`},
		{"LEFT", `"abc", undefined`, `undefined`},
		{"LEFT", `"", 1.5`, `""`},
		{"LEFT", `"é😀x", 3`, `"é😀"`},
		{"LEFT", `"é😀x", 2`, `"é` + replacement + `"`},

		{"RIGHT", `"AdventureWorks", 5`, `"Works"`},
		{"RIGHT", `"AdventureWorks", 14`, `"AdventureWorks"`},
		{"RIGHT", `"AdventureWorks", 100`, `"AdventureWorks"`},
		{"RIGHT", `"AdventureWorks", 0`, `""`},

		{"RIGHT", `"abc", -9223372036854775808`, `""`},
		{"RIGHT", `"x😀", 2`, `"😀"`},
		{"RIGHT", `"x😀", 1`, `"` + replacement + `"`},
		{"RIGHT", `"abc", 0.5`, `undefined`},

		{"SUBSTRING", `"AdventureWorks", 0, 9`, `"Adventure"`},
		{"SUBSTRING", `"AdventureWorks", 9, 5`, `"Works"`},
		{"SUBSTRING", `"AdventureWorks", 0, 14`, `"AdventureWorks"`},
		{"SUBSTRING", `"AdventureWorks", 0, -1`, `""`},

		{"SUBSTRING", `"abc", 1, 100`, `"bc"`},
		{"SUBSTRING", `"abc", -1, 2`, `""`},
		{"SUBSTRING", `"abc", 3, 1`, `""`},
		{"SUBSTRING", `"abc", 9223372036854775807, 9223372036854775807`, `""`},
		{"SUBSTRING", `"abc", 1, 9223372036854775807`, `"bc"`},
		{"SUBSTRING", `"a😀b", 2, 2`, `"` + replacement + `b"`},
		{"SUBSTRING", `"a😀b", 2, 1`, `"` + replacement + `"`},
		{"SUBSTRING", `"abc", 0.5, 1`, `undefined`},
		{"SUBSTRING", `"abc", 1e300, 1`, `undefined`},
		{"SUBSTRING", `"abc", 0, undefined`, `undefined`},

		{"LTRIM", `"  AdventureWorks"`, `"AdventureWorks"`},
		{"LTRIM", `"  AdventureWorks  "`, `"AdventureWorks  "`},
		{"LTRIM", `"AdventureWorks  "`, `"AdventureWorks  "`},
		{"LTRIM", `"AdventureWorks", "Works"`, `"AdventureWorks"`},
		{"LTRIM", `"AdventureWorks", "Adventure"`, `"Works"`},
		{"LTRIM", `"AdventureWorks", "AdventureWorks"`, `""`},
		{"LTRIM", `"AdventureWorks", ""`, `"AdventureWorks"`},
		{"RTRIM", `"  AdventureWorks  "`, `"  AdventureWorks"`},
		{"RTRIM", `"AdventureWorks", "Works"`, `"Adventure"`},
		{"TRIM", `"   AdventureWorks   "`, `"AdventureWorks"`},
		{"TRIM", `"---AdventureWorks---"`, `"---AdventureWorks---"`},
		{"TRIM", `"___AdventureWorks___", "_"`, `"AdventureWorks"`},
		{"TRIM", `"-- AdventureWorks --", "-"`, `" AdventureWorks "`},
		{"TRIM", `"-_-AdventureWorks-_-", "-_"`, `"AdventureWorks"`},

		{"TRIM", `"\t\n\u00a0\u2003a "`, `"a"`},
		{"TRIM", `"   "`, `""`},
		{"TRIM", `"a", 1`, `undefined`},
		{"TRIM", `1`, `undefined`},
		{"RTRIM", `"a😀😁", "😁"`, `"a😀"`},
	})
}

func TestStringBuilding(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	runCalls(t, []callCase{
		{"CONCAT", `"alpha", "bravo"`, `"alphabravo"`},
		{"CONCAT", `"Adventure", "Works", "!"`, `"AdventureWorks!"`},

		{"CONCAT", `"", ""`, `""`},
		{"CONCAT", `"a", 1`, `undefined`},
		{"CONCAT", `"a", undefined`, `undefined`},

		{"LOWER", `"AdventureWorks"`, `"adventureworks"`},
		{"UPPER", `"AdventureWorks"`, `"ADVENTUREWORKS"`},

		{"LOWER", `"ÀÉ😀Ω"`, `"àé😀ω"`},
		{"UPPER", `"straße"`, `"STRAßE"`},
		{"LOWER", `"same"`, `"same"`},
		{"LOWER", `null`, `undefined`},

		{"REPLACE", `"AdventureWorksLT", "LT", "LT2"`, `"AdventureWorksLT2"`},

		{"REPLACE", `"aaa", "a", "bb"`, `"bbbbbb"`},
		{"REPLACE", `"abc", "x", "y"`, `"abc"`},
		{"REPLACE", `"abc", "b", ""`, `"ac"`},
		{"REPLACE", `"abc", "", "y"`, `undefined`},
		{"REPLACE", `"abc", "b", 1`, `undefined`},

		{"REPLICATE", `"Cosmic", 3`, `"CosmicCosmicCosmic"`},

		{"REPLICATE", `"a", 0`, `""`},
		{"REPLICATE", `"a", -1`, `undefined`},
		{"REPLICATE", `"a", NaN`, `undefined`},
		{"REPLICATE", `"a", Infinity`, `undefined`},
		{"REPLICATE", `"ab", 2.9`, `"abab"`},
		{"REPLICATE", `"ab", 5001`, `undefined`},
		{"REPLICATE", `"", 1e300`, `""`},
		{"REPLICATE", `"a", "3"`, `undefined`},

		{"REVERSE", `"AdventureWorks"`, `"skroWerutnevdA"`},

		{"REVERSE", `"a😀é"`, `"é😀a"`},
		{"REVERSE", `""`, `""`},
		{"REVERSE", `1`, `undefined`},

		{"STRINGJOIN", `["Iropa", "Mountain", "Bike"], " "`, `"Iropa Mountain Bike"`},
		{"STRINGJOIN", `["Iropa", "Mountain", "Bike"], ""`, `"IropaMountainBike"`},
		{"STRINGJOIN", `["Iropa", "Mountain", "Bike"], undefined`, `undefined`},
		{"STRINGJOIN", `["6", "7", "4", "3"], "A"`, `"6A7A4A3"`},
		{"STRINGJOIN", `["Adventure", "LT"], "Works"`, `"AdventureWorksLT"`},

		{"STRINGJOIN", `[], ","`, `""`},
		{"STRINGJOIN", `["", ""], ","`, `","`},
		{"STRINGJOIN", `["a", 1], ","`, `undefined`},
		{"STRINGJOIN", `"a", ","`, `undefined`},

		{"STRINGSPLIT", `"Handlebar", "e"`, `["Handl","bar"]`},
		{"STRINGSPLIT", `"CARBON_STEEL_BIKE_WHEEL", "_"`, `["CARBON","STEEL","BIKE","WHEEL"]`},
		{"STRINGSPLIT", `"xenmoun mountain bike", "moun"`, `["xen"," ","tain bike"]`},
		{"STRINGSPLIT", `"AluminumBikeFrame", undefined`, `undefined`},
		{"STRINGSPLIT", `"Helmet", ""`, `["Helmet"]`},
		{"STRINGSPLIT", `"", ""`, `[""]`},

		{"STRINGSPLIT", `"", ","`, `[""]`},
		{"STRINGSPLIT", `",", ","`, `["",""]`},
		{"STRINGSPLIT", `"a,b,c,d,e,f,g,h,i,j,k,l", ","`, `["a","b","c","d","e","f","g","h","i","j","k","l"]`},
	})
	for _, c := range []callCase{
		{"CONCAT", strings.Repeat(`"`+long+`",`, 4) + `"x"`, `!too large`},
		{"REPLACE", `"` + long + `", "x", "12345"`, `!too large`},
		{"STRINGJOIN", `["a","b","c","d","e","f"], "` + long + `"`, `!too large`},
		{"STRINGSPLIT", `"` + long + long[:1<<20-100] + `", "x"`, `!too large`},
		{"REGEXREPLACEALL", `"` + long + `", "x", "12345"`, `!too large`},
		{"REGEXREPLACE", `"` + long + `", ".*", "$0$0$0$0$0"`, `!too large`},
	} {
		if got := evaluate(t, c.name, c.args); got != c.want {
			t.Errorf("%s of long texts: got %.40s, want %s", c.name, got, c.want)
		}
	}
}

func TestStringConversion(t *testing.T) {
	runCalls(t, []callCase{
		{"TOSTRING", `125`, `"125"`},
		{"TOSTRING", `0.1234`, `"0.1234"`},
		{"TOSTRING", `false`, `"false"`},
		{"TOSTRING", `[1, 2, 3]`, `"[1,2,3]"`},
		{"TOSTRING", `{"department": "Bicycles"}`, `"{\"department\":\"Bicycles\"}"`},
		{"TOSTRING", `"Hello World"`, `"Hello World"`},
		{"TOSTRING", `undefined`, `undefined`},
		{"TOSTRING", `NaN`, `"NaN"`},
		{"TOSTRING", `Infinity`, `"Infinity"`},

		{"TOSTRING", `-Infinity`, `"-Infinity"`},
		{"TOSTRING", `null`, `"null"`},
		{"TOSTRING", `1e21`, `"1e+21"`},
		{"TOSTRING", `20.0`, `"20"`},

		{"STRINGTOARRAY", `"[]"`, `[]`},
		{"STRINGTOARRAY", `"[ \"coats\", \"gloves\", \"hats\" ]"`, `["coats","gloves","hats"]`},
		{"STRINGTOARRAY", `"[ { \"types\": [ \"coats\", \"gloves\" ] }, [ \"hats\" ], 76, false, null ]"`,
			`[{"types":["coats","gloves"]},["hats"],76,false,null]`},
		{"STRINGTOARRAY", `"[ 'coats', 'gloves', 'hats' ]"`, `undefined`},
		{"STRINGTOARRAY", `undefined`, `undefined`},
		{"STRINGTOARRAY", `null`, `undefined`},
		{"STRINGTOARRAY", `"{}"`, `undefined`},
		{"STRINGTOARRAY", `"[1] x"`, `undefined`},

		{"STRINGTOBOOLEAN", `"true"`, `true`},
		{"STRINGTOBOOLEAN", `"    false"`, `false`},
		{"STRINGTOBOOLEAN", `"TRUE"`, `undefined`},
		{"STRINGTOBOOLEAN", `"truefalse"`, `undefined`},
		{"STRINGTOBOOLEAN", `true`, `undefined`},

		{"STRINGTONULL", `"null"`, `null`},
		{"STRINGTONULL", `"  null "`, `null`},
		{"STRINGTONULL", `"NULL"`, `undefined`},

		{"STRINGTONUMBER", `"100"`, `100`},
		{"STRINGTONUMBER", `"3.14"`, `3.14`},
		{"STRINGTONUMBER", `"   60   "`, `60`},
		{"STRINGTONUMBER", `"-1.79769e+308"`, `-1.79769e+308`},
		{"STRINGTONUMBER", `"Hello"`, `undefined`},
		{"STRINGTONUMBER", `undefined`, `undefined`},
		{"STRINGTONUMBER", `null`, `undefined`},
		{"STRINGTONUMBER", `NaN`, `undefined`},
		{"STRINGTONUMBER", `Infinity`, `undefined`},

		{"STRINGTONUMBER", `"1e999"`, `undefined`},
		{"STRINGTONUMBER", `"NaN"`, `undefined`},
		{"STRINGTONUMBER", `"0x10"`, `undefined`},
		{"STRINGTONUMBER", `""`, `undefined`},

		{"STRINGTOOBJECT", `"{}"`, `{}`},
		{"STRINGTOOBJECT", `"{\"name\": \"x\", \"a\": [1]}"`, `{"name":"x","a":[1]}`},
		{"STRINGTOOBJECT", `"{'name': 1}"`, `undefined`},
		{"STRINGTOOBJECT", `"[]"`, `undefined`},
	})
}

func TestRegex(t *testing.T) {
	runCalls(t, []callCase{
		{"REGEXMATCH", `"abcd", "ABC"`, `false`},
		{"REGEXMATCH", `"abcd", "ABC", "i"`, `true`},
		{"REGEXMATCH", `"abcd", "ab.", ""`, `true`},
		{"REGEXMATCH", `"abcd", "ab c", "x"`, `true`},
		{"REGEXMATCH", `"abcd", "aB c", "ix"`, `true`},
		{"REGEXMATCH", `"03a", "[0-9]"`, `true`},
		{"REGEXMATCH", `"salt3824908", "salt{1}"`, `true`},
		{"REGEXMATCH", `"shame", "s....", "i"`, `true`},

		{"REGEXMATCH", `"a\nb", "^b"`, `false`},
		{"REGEXMATCH", `"a\nb", "^b", "m"`, `true`},
		{"REGEXMATCH", `"a\nb", "a.b"`, `false`},
		{"REGEXMATCH", `"a\nb", "a.b", "s"`, `true`},
		{"REGEXMATCH", `"foobar", "(?<=foo)bar"`, `true`},
		{"REGEXMATCH", `"😀", "^.$"`, `true`},
		{"REGEXMATCH", `"a", "("`, `!invalid`},
		{"REGEXMATCH", `"a", "a", "q"`, `!invalid`},
		{"REGEXMATCH", `"a", "a", 1`, `undefined`},
		{"REGEXMATCH", `"a", undefined`, `undefined`},
		{"REGEXMATCH", `1, "("`, `undefined`},

		{"REGEXEXTRACT", `"SKU-93821-BLUE", "[A-Z]+"`, `"SKU"`},
		{"REGEXEXTRACT", `"SKU-93821-BLUE", "[0-9]+"`, `"93821"`},

		{"REGEXEXTRACT", `"sku-12", "SKU-([0-9]+)", "i", 1`, `"12"`},
		{"REGEXEXTRACT", `"sku-12", "sku-([0-9]+)", "", 0`, `"sku-12"`},
		{"REGEXEXTRACT", `"sku-12", "sku", "", 1`, `undefined`},
		{"REGEXEXTRACT", `"b", "(a)|b", "", 1`, `undefined`},
		{"REGEXEXTRACT", `"sku-12", "x"`, `undefined`},
		{"REGEXEXTRACT", `"sku-12", "sku", "", -1`, `undefined`},

		{"REGEXEXTRACTALL", `"A12-B34-C56", "[0-9]+"`, `["12","34","56"]`},
		{"REGEXEXTRACTALL", `"north-east-west", "[a-z]+"`, `["north","east","west"]`},

		{"REGEXEXTRACTALL", `"a1b2", "[a-z]([0-9])", "", 1`, `["1","2"]`},
		{"REGEXEXTRACTALL", `"abc", "[0-9]"`, `[]`},
		{"REGEXEXTRACTALL", `"ab", ""`, `["","",""]`},

		{"REGEXREPLACE", `"A12-B34-C56", "[0-9]+", "#"`, `"A#-B34-C56"`},
		{"REGEXREPLACEALL", `"A12-B34-C56", "[0-9]+", "#"`, `"A#-B#-C#"`},

		{"REGEXREPLACEALL", `"a1b2", "([a-z])([0-9])", "$2$1"`, `"1a2b"`},
		{"REGEXREPLACEALL", `"a", "a", "$5$$1$"`, `"$5$1$"`},
		{"REGEXREPLACEALL", `"ab", "", "-"`, `"-a-b-"`},
		{"REGEXREPLACEALL", `"é😀é", "é", "e"`, `"e😀e"`},
		{"REGEXREPLACE", `"abc", "x", "y"`, `"abc"`},
		{"REGEXREPLACE", `"abc", "B", "y", "i"`, `"ayc"`},
		{"REGEXREPLACE", `"abc", "b", 1`, `undefined`},
	})
	if got := evaluate(t, "REGEXMATCH", `"a", "`+strings.Repeat("a", maxPatternBytes+1)+`"`); got != "!invalid" {
		t.Errorf("a long pattern: got %s", got)
	}
}

// A pattern that backtracks endlessly must not block a query.
func TestRegexTakesNoLongerThanItMay(t *testing.T) {
	if got := evaluate(t, "REGEXMATCH", `"`+strings.Repeat("a", 60)+`", "^(a+)+$|(a*)*b"`); got != "true" {
		t.Errorf("a match at once: got %s", got)
	}
	if got := evaluate(t, "REGEXMATCH", `"`+strings.Repeat("a", 60)+`!", "^(a|aa)+$"`); got != "!invalid" &&
		got != "false" {
		t.Errorf("endless: got %s", got)
	}
}

func TestRegexIsAskedWhetherItIsLate(t *testing.T) {
	asked := 0
	late := fault.New(fault.Timeout, "late")
	c := &Call{Meter: &Meter{Stop: func() error {
		if asked++; asked == 3 {
			return late
		}
		return nil
	}}}
	f, _ := Lookup("REGEXEXTRACTALL")
	if got := shown(c, f.Run(c, arguments(t, `"aaaaaa", "a"`))); got != "!timeout" || asked != 3 {
		t.Errorf("got %s, asked %d times", got, asked)
	}
}

// The pattern of the previous row must not be used for the next.
func TestRegexOfChangingPatterns(t *testing.T) {
	c := &Call{}
	f, _ := Lookup("REGEXMATCH")
	for _, x := range []struct{ args, want string }{
		{`"abc", "b"`, "true"}, {`"abc", "B"`, "false"}, {`"abc", "B", "i"`, "true"}, {`"abc", "B"`, "false"},
		{`"abc", "x"`, "false"},
	} {
		if got := shown(c, f.Run(c, arguments(t, x.args))); got != x.want {
			t.Errorf("%s: got %s, want %s", x.args, got, x.want)
		}
	}
}
