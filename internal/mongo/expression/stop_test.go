package expression

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/mongo/work/worktest"
)

// large are arguments of every operator, on the document of worktest. {"refused": ...} is said of operators that are
// not there.
var large = map[string][]string{
	"$accumulator": nil, "$function": nil, "$meta": nil, // never evaluated

	"$rand": {`{}`}, "$literal": {`1`}, "$const": {`1`},
	"$let":    {`{"vars": {"x": {"$size": "$numbers"}}, "in": {"$size": "$words"}}`},
	"$cond":   {`[{"$in": ["zz", "$words"]}, 1, {"$size": "$words"}]`},
	"$ifNull": {`["$nothing", "$objects.nothing", 1]`},
	"$switch": {`{"branches": [{"case": {"$in": ["zz", "$words"]}, "then": 1}], "default": {"$size": ` +
		`"$objects.v"}}`},
	"$and":           {`[{"$size": "$numbers"}, {"$size": "$words"}]`},
	"$or":            {`[{"$in": ["zz", "$words"]}, {"$in": [-1, "$numbers"]}]`},
	"$not":           {`[{"$in": ["zz", "$words"]}]`},
	"$cmp":           {`["$nested", "$nested2"]`, `["$text", "$text2"]`, `["$object", "$object2"]`},
	"$type":          {`"$objects.v"`},
	"$isArray":       {`["$objects.v"]`},
	"$isNumber":      {`{"$size": "$objects.v"}`},
	"$mergeObjects":  {`["$object", "$object2", "$object"]`},
	"$setField":      {`{"field": "z", "input": "$object", "value": 1}`},
	"$unsetField":    {`{"field": "z", "input": "$object"}`},
	"$getField":      {`{"field": "z", "input": "$object"}`},
	"$objectToArray": {`"$object"`},
	"$arrayToObject": {`"$objects"`, `"$pairs"`},
	"$bsonSize":      {`"$object"`},
	"$binarySize":    {`{"$toUpper": "$text"}`},

	"$arrayElemAt": {`["$numbers", -1]`, `["$words", 100000]`}, "$first": {`"$objects.v"`}, "$last": {`"$numbers"`},
	"$concatArrays": {`["$numbers", "$words", "$numbers"]`}, "$in": {`[-1, "$numbers"]`, `["$nested", ["$nested2"]]`},
	"$indexOfArray": {`["$numbers", -1]`}, "$range": {`[0, 1000000]`, `[1000000, 0, -1]`},
	"$reverseArray": {`"$numbers"`},
	"$size":         {`"$numbers"`}, "$slice": {`["$numbers", -100000]`, `["$words", 5, 100000]`},
	"$filter": {`{"input": "$numbers", "cond": {"$in": ["$$this", {"$range": [0, 1000000]}]}}`},
	"$map": {`{"input": "$numbers", "in": {"$sortArray": {"input": "$numbers", "sortBy": -1}}}`,
		`{"input": "$numbers", "in": {"$toUpper": "$text"}}`},
	"$reduce": {`{"input": "$numbers", "initialValue": [], "in": {"$concatArrays": ["$$value", ["$$this"]]}}`},
	"$firstN": {`{"n": 100000, "input": "$numbers"}`}, "$lastN": {`{"n": 100000, "input": "$numbers"}`},
	"$maxN": {`{"n": 100000, "input": "$numbers"}`}, "$minN": {`{"n": 100000, "input": "$words"}`},
	"$sortArray": {`{"input": "$numbers", "sortBy": 1}`, `{"input": "$objects", "sortBy": {"v": -1, "k": 1}}`},
	"$zip":       {`{"inputs": ["$numbers", "$words"], "useLongestLength": true}`},

	"$allElementsTrue": {`["$numbers"]`}, "$anyElementTrue": {`["$zeros"]`},
	"$setDifference": {`["$numbers", "$words"]`},
	"$setEquals":     {`["$numbers", "$words"]`}, "$setIntersection": {`["$numbers", "$words"]`},
	"$setIsSubset": {`["$numbers", "$numbers"]`},
	"$setUnion":    {`["$numbers", "$words"]`},

	"$concat": {`["$text", "$text"]`}, "$split": {`["$text", "a"]`, `["$text", "$token"]`},
	"$strcasecmp":  {`["$text", "$text2"]`},
	"$strLenBytes": {`{"$toLower": "$text"}`}, "$strLenCP": {`"$text"`}, "$toLower": {`"$text"`},
	"$toUpper":      {`"$text"`},
	"$indexOfBytes": {`["$text", "zz"]`, `["$periods", "$token"]`},
	"$indexOfCP":    {`["$text", "zz", 1]`, `["$periods", "$token"]`},
	"$substr":       {`["$text", 0, -1]`}, "$substrBytes": {`["$text", 0, -1]`},
	"$substrCP":   {`["$text", 1000000, 2000000]`},
	"$replaceOne": {`{"input": "$text", "find": "zz", "replacement": ""}`},
	"$replaceAll": {`{"input": "$text", "find": "a", "replacement": ""}`,
		`{"input": "$periods", "find": "$token", "replacement": ""}`},
	"$trim": {`{"input": "$text", "chars": "$text"}`}, "$ltrim": {`{"input": "$blank"}`},
	"$rtrim": {`{"input": "$blank"}`},
	"$regexMatch": {`{"input": "$text", "regex": "(a|b| )+z"}`, `{"input": "$text", "regex": "[^z]{1,500}z"}`,
		`{"input": "$text", "regex": "a(?=z)"}`},
	"$regexFind":    {`{"input": "$text", "regex": "(a|b| )+z"}`},
	"$regexFindAll": {`{"input": "$text", "regex": "a"}`, `{"input": "$text", "regex": "\\bz"}`},

	"$convert":  {`{"input": "$token", "to": "double", "onError": 0}`},
	"$toString": {`"$token"`}, "$toBool": {`{"$size": "$numbers"}`},
	"$bitAnd": {`"$nothing"`}, "$bitNot": {`{"$size": "$numbers"}`}, "$bitOr": {`"$nothing"`},
	"$bitXor":         {`"$nothing"`},
	"$percentile":     {`{"input": "$numbers", "p": [0.5], "method": "approximate"}`},
	"$median":         {`{"input": "$numbers", "method": "approximate"}`},
	"$dateFromParts":  {`{"year": {"$size": "$numbers"}}`},
	"$dateFromString": {`{"dateString": "$token", "onError": 0}`, `{"dateString": "$blank", "onError": 0}`},
	"$dateToParts":    {`{"date": "$date"}`},
	"$dateToString":   {`{"date": "$date", "format": "` + strings.Repeat("%d", 50000) + `"}`},
	"$dateAdd":        {`{"startDate": "$date", "unit": "month", "amount": 1}`},
	"$dateSubtract":   {`{"startDate": "$date", "unit": "month", "amount": 1}`},
	"$dateDiff":       {`{"startDate": "$date", "endDate": "$$NOW", "unit": "month", "timezone": "Europe/Berlin"}`},
	"$dateTrunc":      {`{"date": "$date", "unit": "week"}`},
	"$atan2":          {`["$decimal", "$decimal"]`}, "$log": {`["$decimal", 3]`},
	"$pow":    {`["$decimal", {"$numberDecimal": "1.5"}]`},
	"$divide": {`["$decimal", 7]`}, "$mod": {`["$decimal", 7]`},
	"$subtract": {`["$decimal", 7]`, `["$decimal", {"$numberDecimal": "1E-6000"}]`}, "$round": {`["$decimal", 3]`},
	"$trunc":       {`["$decimal", 3]`},
	"$tsIncrement": {`"$ts"`}, "$tsSecond": {`"$ts"`},
}

func init() {
	all := func(args []string, names string) {
		for name := range strings.FieldsSeq(names) {
			large[name] = append(large[name], args...)
		}
	}
	all([]string{`["$nested", "$nested2"]`, `["$text", "$text2"]`}, "$eq $ne $gt $gte $lt $lte")
	all([]string{`"$numbers"`, `"$decimals"`}, "$avg $max $min $stdDevPop $stdDevSamp $sum")
	all([]string{`["$decimal", "$decimal", "$decimal"]`, `["$decimal", 0.5]`}, "$add $multiply")
	all([]string{`"$decimal"`},
		"$abs $asinh $atan $ceil $cos $cosh $degreesToRadians $exp $floor $ln $log10 $radiansToDegrees $sin $sinh "+
			"$sqrt $tan $tanh")
	all([]string{`{"$multiply": ["$decimal", {"$numberDecimal": "1E-6000"}]}`}, "$acos $asin $atanh")
	all([]string{`"$decimal"`}, "$acosh")
	all([]string{`"$date"`},
		"$dayOfMonth $dayOfWeek $dayOfYear $hour $isoDayOfWeek $isoWeek $isoWeekYear $millisecond $minute $month "+
			"$second $week $year")
	all([]string{`"$nothing"`}, "$toDate $toDecimal $toDouble $toInt $toLong $toObjectId")
}

// TestEveryOperatorStops evaluates each operator again and again on values that are as large as can be, and has it
// stopped after a while.
func TestEveryOperatorStops(t *testing.T) {
	on := worktest.Document()
	if n := len(on.Data); n > MaxResultBytes {
		t.Fatalf("the document has %d bytes", n)
	}
	for _, name := range Operators() {
		arguments, known := large[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest arguments", name)
		}
		for _, argument := range arguments {
			stops(t, fmt.Sprintf(`{"$map": {"input": {"$range": [0, 1000000]}, "in": {"%s": %s}}}`, name, argument), on)
		}
	}
}

func stops(t *testing.T, text string, on doc.Value) {
	t.Helper()
	names := NewNames()
	x, err := Compile(parse(t, text), names)
	if err != nil {
		t.Errorf("%.150s: %v", text, err)
		return
	}
	worktest.Stops(t, text, func(m *work.Meter) error {
		s := &Scope{Now: storyNow, Random: func() float64 {
			return 0.5
		}, Vars: make([]doc.Value, names.Slots()), Meter: m}
		s.Reset(on)
		_, err := x.Evaluate(s)
		return err
	})
}
