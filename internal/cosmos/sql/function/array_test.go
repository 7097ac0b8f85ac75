package function

import (
	"fmt"
	"strings"
	"testing"
)

func TestArrays(t *testing.T) {
	const letters = `["Alpha","Bravo","Charlie","Delta","Echo","Foxtrot","Golf"]`
	runCalls(t, []callCase{
		{"ARRAY_CONCAT", `["backpacks", "daypacks"], ["hippacks"]`, `["backpacks","daypacks","hippacks"]`},
		{"ARRAY_CONCAT", `[], [], [1], [[2]]`, `[1,[2]]`},
		{"ARRAY_CONCAT", `[1], 2`, `undefined`},
		{"ARRAY_CONCAT", `[1], undefined`, `undefined`},

		{"ARRAY_CONTAINS", `["coats", "jackets", "sweatshirts"], "coats"`, `true`},
		{"ARRAY_CONTAINS", `["coats", "jackets", "sweatshirts"], "hoodies"`, `false`},
		{"ARRAY_CONTAINS", `[{"category": "shirts", "color": "blue"}], {"category": "shirts", "color": "blue"}`,
			`true`},
		{"ARRAY_CONTAINS", `[{"category": "shirts", "color": "blue"}], {"category": "shirts"}`, `false`},
		{"ARRAY_CONTAINS", `[{"category": "shirts", "color": "blue"}], {"category": "shirts"}, true`, `true`},
		{"ARRAY_CONTAINS", `[{"category": "shirts", "color": "blue"}], {"category": "shorts", "color": "blue"}, true`,
			`false`},

		{"ARRAY_CONTAINS", `[{"color": "blue", "category": "shirts"}], {"category": "shirts", "color": "blue"}`,
			`true`},
		{"ARRAY_CONTAINS", `[1.0], 1`, `true`},
		{"ARRAY_CONTAINS", `["1", true, null], 1`, `false`},
		{"ARRAY_CONTAINS", `["1", true, null], null`, `true`},
		{"ARRAY_CONTAINS", `[[1, 2]], [1, 2]`, `true`},
		{"ARRAY_CONTAINS", `[1, {"a": 1}], {}, true`, `true`},
		{"ARRAY_CONTAINS", `[1], 1, true`, `true`},
		{"ARRAY_CONTAINS", `[1], 1, undefined`, `true`},
		{"ARRAY_CONTAINS", `[1], 1, "true"`, `undefined`},
		{"ARRAY_CONTAINS", `[1], undefined`, `undefined`},
		{"ARRAY_CONTAINS", `"abc", "a"`, `undefined`},
		{"ARRAY_CONTAINS", `undefined, 1`, `undefined`},
		{"ARRAY_CONTAINS", `[], 1`, `false`},

		{"ARRAY_CONTAINS_ANY", `[1, true, "3", [1,2,3]], 1, true, "3", [1,2,3]`, `true`},
		{"ARRAY_CONTAINS_ANY", `[1, 2, 3, 4], 2, 3, 4, 5`, `true`},
		{"ARRAY_CONTAINS_ANY", `[1, 2, 3, 4], 1, undefined`, `true`},
		{"ARRAY_CONTAINS_ANY", `[1, 2, 3, 4], 5, 6, 7, 8`, `false`},
		{"ARRAY_CONTAINS_ANY", `[], 1, 2, 3`, `false`},
		{"ARRAY_CONTAINS_ANY", `[1, 2, 3, 4], 5, undefined`, `undefined`},
		{"ARRAY_CONTAINS_ALL", `[1, true, "3", [1,2,3]], 1, true, "3", [1,2,3]`, `true`},
		{"ARRAY_CONTAINS_ALL", `[1, 2, 3, 4], 2, 3, 4, 5`, `false`},
		{"ARRAY_CONTAINS_ALL", `[1, 2, 3, 4], 1, undefined`, `undefined`},
		{"ARRAY_CONTAINS_ALL", `[1, 2, 3, 4], 5, 6, 7, 8`, `false`},
		{"ARRAY_CONTAINS_ALL", `[], 1, 2, 3`, `false`},
		{"ARRAY_CONTAINS_ALL", `[1, 2, 3, 4], 5, undefined`, `false`},
		{"ARRAY_CONTAINS_ALL", `1, 5`, `undefined`},

		{"ARRAY_LENGTH", `[70, 86, 92, 99, 85, 90, 82]`, `7`},
		{"ARRAY_LENGTH", `[]`, `0`},
		{"ARRAY_LENGTH", `"abc"`, `undefined`},
		{"ARRAY_LENGTH", `undefined`, `undefined`},

		{"ARRAY_SLICE", letters + `, 0`, letters},
		{"ARRAY_SLICE", letters + `, 1`, `["Bravo","Charlie","Delta","Echo","Foxtrot","Golf"]`},
		{"ARRAY_SLICE", letters + `, -1`, `["Golf"]`},
		{"ARRAY_SLICE", letters + `, -2`, `["Foxtrot","Golf"]`},
		{"ARRAY_SLICE", letters + `, 0, 3`, `["Alpha","Bravo","Charlie"]`},
		{"ARRAY_SLICE", letters + `, 0, 12`, letters},
		{"ARRAY_SLICE", letters + `, 3, 5`, `["Delta","Echo","Foxtrot","Golf"]`},
		{"ARRAY_SLICE", letters + `, -2, 1`, `["Foxtrot"]`},

		{"ARRAY_SLICE", `[1,2,3], -100`, `[1,2,3]`},
		{"ARRAY_SLICE", `[1,2,3], 3`, `[]`},
		{"ARRAY_SLICE", `[1,2,3], 100, 1`, `[]`},
		{"ARRAY_SLICE", `[1,2,3], 1, -1`, `[]`},
		{"ARRAY_SLICE", `[1,2,3], 0, -9223372036854775808`, `[]`},
		{"ARRAY_SLICE", `[1,2,3], 1, 9223372036854775807`, `[2,3]`},
		{"ARRAY_SLICE", `[1,2,3], -9223372036854775808, 1`, `[1]`},
		{"ARRAY_SLICE", `[1,2,3], 1.5`, `undefined`},
		{"ARRAY_SLICE", `[1,2,3], 0, undefined`, `undefined`},
		{"ARRAY_SLICE", `"abc", 0`, `undefined`},

		{"CHOOSE", `1, "Vimero", "Hydration", "Pack"`, `"Vimero"`},
		{"CHOOSE", `0, "Mt.", "Hood", "Hydration", "Pack"`, `undefined`},
		{"CHOOSE", `4, "Mt.", "Hood", "Hydration", "Pack"`, `"Pack"`},
		{"CHOOSE", `5, "Mt.", "Hood", "Hydration", "Pack"`, `undefined`},
		{"CHOOSE", `1.5, "a", "b"`, `undefined`},
		{"CHOOSE", `"1", "a", "b"`, `undefined`},
		{"CHOOSE", `2, "a", undefined`, `undefined`},

		{"OBJECTTOARRAY", `{"a": "12345", "b": "67890"}`, `[{"k":"a","v":"12345"},{"k":"b","v":"67890"}]`},
		{"OBJECTTOARRAY", `{"color": "blue", "size": {"w": [1]}}, "key", "value"`,
			`[{"key":"color","value":"blue"},{"key":"size","value":{"w":[1]}}]`},

		{"OBJECTTOARRAY", `{}`, `[]`},
		{"OBJECTTOARRAY", `{"a": 1}, "n"`, `[{"n":"a","v":1}]`},
		{"OBJECTTOARRAY", `{"a": 1}, "x", "x"`, `[{"x":1}]`},
		{"OBJECTTOARRAY", `{"a": 1}, "x\u0000", "v"`, `undefined`},
		{"OBJECTTOARRAY", `{"a": 1}, 1, 2`, `undefined`},
		{"OBJECTTOARRAY", `[1]`, `undefined`},
	})
}

// Undefined elements of the examples are omitted, because arrays cannot contain them.
func TestArraySums(t *testing.T) {
	runCalls(t, []callCase{
		{"ARRAY_AVG", `[1, 2, 3, 4]`, `2.5`},
		{"ARRAY_AVG", `[1.0, 2.0, 3.3, 4.7]`, `2.75`},
		{"ARRAY_AVG", `[1, -2.7, 3, -4]`, `-0.675`},
		{"ARRAY_AVG", `["abc", "ABC", "aBc", "AbC"]`, `undefined`},
		{"ARRAY_AVG", `[12, "abc", true, false, null]`, `undefined`},
		{"ARRAY_MAX", `[1, 2, 3, 4]`, `4`},
		{"ARRAY_MAX", `["abc", "ABC", "aBc", "AbC"]`, `"abc"`},
		{"ARRAY_MAX", `[true, false]`, `true`},
		{"ARRAY_MAX", `[null, null]`, `null`},
		{"ARRAY_MAX", `[12, "abc", true, false, null]`, `"abc"`},
		{"ARRAY_MEDIAN", `[1, 2, 3, 4]`, `2.5`},
		{"ARRAY_MEDIAN", `[1.0, 2.0, 3.3, 4.7, 7.8]`, `3.3`},
		{"ARRAY_MEDIAN", `[1, -2.7, 3, -4]`, `-0.85000000000000009`},
		{"ARRAY_MEDIAN", `["abc", "ABC", "aBc", "AbC"]`, `undefined`},
		{"ARRAY_SUM", `[1, 2, 3, 4]`, `10`},
		{"ARRAY_SUM", `[12, "abc", true, false, null]`, `undefined`},

		{"ARRAY_MIN", `[4, 2, 3]`, `2`},
		{"ARRAY_MIN", `[12, "abc", true, false, null]`, `null`},
		{"ARRAY_MIN", `[12, "abc", true, false]`, `false`},
		{"ARRAY_MIN", `[1, []]`, `undefined`},
		{"ARRAY_MAX", `[1, {}]`, `undefined`},
		{"ARRAY_MAX", `[9007199254740993, 9007199254740992]`, `9007199254740993`},
		{"ARRAY_SUM", `[]`, `0`},
		{"ARRAY_AVG", `[]`, `undefined`},
		{"ARRAY_MEDIAN", `[]`, `undefined`},
		{"ARRAY_MIN", `[]`, `undefined`},
		{"ARRAY_SUM", `1`, `undefined`},
		{"ARRAY_MEDIAN", `undefined`, `undefined`},
		{"ARRAY_MAX", `"abc"`, `undefined`},
	})
}

func TestArraysAsSets(t *testing.T) {
	runCalls(t, []callCase{
		{"SETUNION", `[1, 2, 3, 4], [3, 4, 5, 6]`, `[1,2,3,4,5,6]`},
		{"SETUNION", `[1, 2, 3, 4], []`, `[1,2,3,4]`},
		{"SETUNION", `[1, 2, 3, 4], [1, 1, 1, 1]`, `[1,2,3,4]`},
		{"SETUNION", `[1, 2, "A", "B"], ["A", 1]`, `[1,2,"A","B"]`},
		{"SETINTERSECT", `[1, 2, 3, 4], [3, 4, 5, 6]`, `[3,4]`},
		{"SETINTERSECT", `[1, 2, 3, 4], []`, `[]`},
		{"SETINTERSECT", `[1, 2, 3, 4], [1, 1, 1, 1]`, `[1]`},
		{"SETINTERSECT", `[1, 2, 3, 4], ["A", "B"]`, `[]`},
		{"SETINTERSECT", `[1, 2, "A", "B"], ["A", 1]`, `["A",1]`},
		{"SETDIFFERENCE", `[1, 2, 3], [1, 2, 6, 7]`, `[3]`},
		{"SETDIFFERENCE", `[1, 2, 6, 7], [1, 2, 3]`, `[6,7]`},
		{"SETDIFFERENCE", `[1, 2, 3, 4], [1, 2, 3, 4, 5, 6]`, `[]`},
		{"SETDIFFERENCE", `[], [1, 2, 3]`, `[]`},
		{"SETDIFFERENCE", `[1, 2, 3], []`, `[1,2,3]`},
		{"SETDIFFERENCE", `[1, 1, 1, 1], [2, 3, 4]`, `[1]`},
		{"SETEQUAL", `[1, 2, 3], [1, 2, 3]`, `true`},
		{"SETEQUAL", `[1, 2, 3], [3, 2, 1]`, `true`},
		{"SETEQUAL", `[1, 2, 3, 3], [1, 2, 2, 3, 1, 2]`, `true`},
		{"SETEQUAL", `[], [1, 2, 3]`, `false`},
		{"SETEQUAL", `[1, true, "abc"], [true, 1, "abc"]`, `true`},
		{"SETEQUAL", `[1, 1, 1, 1], [2, 3, 4]`, `false`},

		{"SETUNION", `[{"a": 1, "b": 2}], [{"b": 2, "a": 1}, 1.0, 1]`, `[{"a":1,"b":2},1]`},
		{"SETUNION", `[1], 1`, `undefined`},
		{"SETINTERSECT", `undefined, [1]`, `undefined`},
		{"SETDIFFERENCE", `"abc", ["a"]`, `undefined`},
		{"SETEQUAL", `[], null`, `undefined`},
		{"SETEQUAL", `[], []`, `true`},
	})
}

// Operations on large sets do not take quadratic time.
func TestLargeSets(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, ",%d", (i*7919)%20_000)
	}
	array := "[" + b.String()[1:] + "]"
	if got := evaluate(t, "SETDIFFERENCE", array+`, `+array); got != "[]" {
		t.Errorf("difference: %.40s", got)
	}
	if got := evaluate(t, "SETUNION", array+`, `+array); got != array {
		t.Errorf("union: %.40s", got)
	}
}

func TestConditional(t *testing.T) {
	runCalls(t, []callCase{
		{"IIF", `true, 123, 456`, `123`},
		{"IIF", `false, 123, 456`, `456`},
		{"IIF", `123, 123, 456`, `456`},
		{"IIF", `"ABC", 123, 456`, `456`},
		{"IIF", `[1,2,3], 123, 456`, `456`},
		{"IIF", `{"name": "Alice"}, 123, 456`, `456`},

		{"IIF", `undefined, 123, 456`, `456`},
		{"IIF", `true, undefined, 456`, `undefined`},
	})
}

func TestDocumentID(t *testing.T) {
	runCalls(t, []callCase{
		{"DOCUMENTID", `{"id": "5741047452", "_rid": "36ZyAPW+uN8NAAAAAAAAAA=="}`, `13`},

		{"DOCUMENTID", `{"_rid": "36ZyAPW+uN----------Dw=="}`, `1152921504606846975`},
		{"DOCUMENTID", `{"_rid": "36ZyAA=="}`, `undefined`},
		{"DOCUMENTID", `{"_rid": "36ZyAPW+uN8NAAAAAAAAA==="}`, `undefined`},
		{"DOCUMENTID", `{"_rid": "????????????????????????"}`, `undefined`},
		{"DOCUMENTID", `{"_rid": 13}`, `undefined`},
		{"DOCUMENTID", `{"id": "x"}`, `undefined`},
		{"DOCUMENTID", `"36ZyAPW+uN8NAAAAAAAAAA=="`, `undefined`},
		{"DOCUMENTID", `undefined`, `undefined`},
	})
}
