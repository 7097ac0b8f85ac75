package expression

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// How long an operator works before it is told to stop, and how long it may take to do so on a machine that is busy
// with other things.
const (
	asksAllowed = 10 // about 10 ms of work
	watchdog    = 2 * time.Second
)

// large are arguments of every operator, on the document of largeDocument. {"refused": ...} is said of operators that are
// not there.
var large = map[string][]string{
	"$accumulator": nil, "$function": nil, "$meta": nil, // never evaluated

	"$rand": {`{}`}, "$literal": {`1`}, "$const": {`1`},
	"$let":           {`{"vars": {"x": {"$size": "$numbers"}}, "in": {"$size": "$words"}}`},
	"$cond":          {`[{"$in": ["zz", "$words"]}, 1, {"$size": "$words"}]`},
	"$ifNull":        {`["$nothing", "$objects.nothing", 1]`},
	"$switch":        {`{"branches": [{"case": {"$in": ["zz", "$words"]}, "then": 1}], "default": {"$size": "$objects.v"}}`},
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
	"$indexOfArray": {`["$numbers", -1]`}, "$range": {`[0, 1000000]`, `[1000000, 0, -1]`}, "$reverseArray": {`"$numbers"`},
	"$size": {`"$numbers"`}, "$slice": {`["$numbers", -100000]`, `["$words", 5, 100000]`},
	"$filter": {`{"input": "$numbers", "cond": {"$in": ["$$this", {"$range": [0, 1000000]}]}}`},
	"$map":    {`{"input": "$numbers", "in": {"$sortArray": {"input": "$numbers", "sortBy": -1}}}`, `{"input": "$numbers", "in": {"$toUpper": "$text"}}`},
	"$reduce": {`{"input": "$numbers", "initialValue": [], "in": {"$concatArrays": ["$$value", ["$$this"]]}}`},
	"$firstN": {`{"n": 100000, "input": "$numbers"}`}, "$lastN": {`{"n": 100000, "input": "$numbers"}`},
	"$maxN": {`{"n": 100000, "input": "$numbers"}`}, "$minN": {`{"n": 100000, "input": "$words"}`},
	"$sortArray": {`{"input": "$numbers", "sortBy": 1}`, `{"input": "$objects", "sortBy": {"v": -1, "k": 1}}`},
	"$zip":       {`{"inputs": ["$numbers", "$words"], "useLongestLength": true}`},

	"$allElementsTrue": {`["$numbers"]`}, "$anyElementTrue": {`["$zeros"]`}, "$setDifference": {`["$numbers", "$words"]`},
	"$setEquals": {`["$numbers", "$words"]`}, "$setIntersection": {`["$numbers", "$words"]`}, "$setIsSubset": {`["$numbers", "$numbers"]`},
	"$setUnion": {`["$numbers", "$words"]`},

	"$concat": {`["$text", "$text"]`}, "$split": {`["$text", "a"]`, `["$text", "$token"]`}, "$strcasecmp": {`["$text", "$text2"]`},
	"$strLenBytes": {`{"$toLower": "$text"}`}, "$strLenCP": {`"$text"`}, "$toLower": {`"$text"`}, "$toUpper": {`"$text"`},
	"$indexOfBytes": {`["$text", "zz"]`, `["$periods", "$token"]`}, "$indexOfCP": {`["$text", "zz", 1]`, `["$periods", "$token"]`},
	"$substr": {`["$text", 0, -1]`}, "$substrBytes": {`["$text", 0, -1]`}, "$substrCP": {`["$text", 1000000, 2000000]`},
	"$replaceOne": {`{"input": "$text", "find": "zz", "replacement": ""}`}, "$replaceAll": {`{"input": "$text", "find": "a", "replacement": ""}`, `{"input": "$periods", "find": "$token", "replacement": ""}`},
	"$trim": {`{"input": "$text", "chars": "$text"}`}, "$ltrim": {`{"input": "$blank"}`}, "$rtrim": {`{"input": "$blank"}`},
	"$regexMatch":   {`{"input": "$text", "regex": "(a|b| )+z"}`, `{"input": "$text", "regex": "[^z]{1,500}z"}`, `{"input": "$text", "regex": "a(?=z)"}`},
	"$regexFind":    {`{"input": "$text", "regex": "(a|b| )+z"}`},
	"$regexFindAll": {`{"input": "$text", "regex": "a"}`, `{"input": "$text", "regex": "\\bz"}`},

	"$convert":  {`{"input": "$token", "to": "double", "onError": 0}`},
	"$toString": {`"$token"`}, "$toBool": {`{"$size": "$numbers"}`},
	"$bitAnd": {`"$nothing"`}, "$bitNot": {`{"$size": "$numbers"}`}, "$bitOr": {`"$nothing"`}, "$bitXor": {`"$nothing"`},
	"$percentile": {`{"input": "$numbers", "p": [0.5], "method": "approximate"}`}, "$median": {`{"input": "$numbers", "method": "approximate"}`},
	"$dateFromParts": {`{"year": {"$size": "$numbers"}}`}, "$dateFromString": {`{"dateString": "$token", "onError": 0}`, `{"dateString": "$blank", "onError": 0}`},
	"$dateToParts": {`{"date": "$date"}`}, "$dateToString": {`{"date": "$date", "format": "` + strings.Repeat("%d", 50000) + `"}`},
	"$dateAdd": {`{"startDate": "$date", "unit": "month", "amount": 1}`}, "$dateSubtract": {`{"startDate": "$date", "unit": "month", "amount": 1}`},
	"$dateDiff": {`{"startDate": "$date", "endDate": "$$NOW", "unit": "month", "timezone": "Europe/Berlin"}`}, "$dateTrunc": {`{"date": "$date", "unit": "week"}`},
	"$atan2": {`["$decimal", "$decimal"]`}, "$log": {`["$decimal", 3]`}, "$pow": {`["$decimal", {"$numberDecimal": "1.5"}]`},
	"$divide": {`["$decimal", 7]`}, "$mod": {`["$decimal", 7]`}, "$subtract": {`["$decimal", 7]`}, "$round": {`["$decimal", 3]`}, "$trunc": {`["$decimal", 3]`},
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
	all([]string{`["$decimal", "$decimal", "$decimal"]`}, "$add $multiply")
	all([]string{`"$decimal"`}, "$abs $asinh $atan $ceil $cos $cosh $degreesToRadians $exp $floor $ln $log10 $radiansToDegrees $sin $sinh $sqrt $tan $tanh")
	all([]string{`{"$multiply": ["$decimal", {"$numberDecimal": "1E-6000"}]}`}, "$acos $asin $atanh")
	all([]string{`"$decimal"`}, "$acosh")
	all([]string{`"$date"`}, "$dayOfMonth $dayOfWeek $dayOfYear $hour $isoDayOfWeek $isoWeek $isoWeekYear $millisecond $minute $month $second $week $year")
	all([]string{`"$nothing"`}, "$toDate $toDecimal $toDouble $toInt $toLong $toObjectId")
}

// largeDocument is close to the largest: long texts, arrays of many elements, an object of many members and values that differ
// only at their end, deep inside.
func largeDocument() doc.Value {
	b := []byte{0, 0, 0, 0}
	put := func(name string, v doc.Value) { b = doc.AppendElement(b, name, v) }
	array := func(n int, element func(i int) doc.Value) doc.Value {
		a := []byte{0, 0, 0, 0}
		for i := range n {
			a = doc.AppendElement(a, fmt.Sprint(i), element(i))
		}
		return doc.Array(closed(a))
	}
	object := func(members ...any) doc.Value {
		o := []byte{0, 0, 0, 0}
		for i := 0; i < len(members); i += 2 {
			o = doc.AppendElement(o, members[i].(string), members[i+1].(doc.Value))
		}
		return doc.Object(closed(o))
	}
	text := strings.Repeat("ab é ", 1<<18)
	put("text", doc.String(text+"y"))
	put("text2", doc.String(text+"x"))
	put("blank", doc.String(strings.Repeat(" ", 1<<20)))
	period := "x" + strings.Repeat("a", 15)
	put("periods", doc.String(strings.Repeat(period, 1<<16)))
	put("token", doc.String(strings.Repeat(period, 1<<13)+"y"))
	put("numbers", array(100_000, func(i int) doc.Value { return doc.Int32(int32(i * 7919 % 100_000)) }))
	put("zeros", array(100_000, func(int) doc.Value { return doc.Int32(0) }))
	put("words", array(50_000, func(i int) doc.Value { return doc.String(fmt.Sprintf("word %d", i*7919%50_000)) }))
	put("objects", array(30_000, func(i int) doc.Value {
		return object("k", doc.String(fmt.Sprintf("k%d", i)), "v", doc.Int32(int32(i%100)))
	}))
	put("pairs", array(30_000, func(i int) doc.Value { return array(2, func(int) doc.Value { return doc.String(fmt.Sprint(i)) }) }))
	for i, name := range []string{"object", "object2"} {
		o := []byte{0, 0, 0, 0}
		for n := range 50_000 {
			o = doc.AppendElement(o, fmt.Sprintf("m%d", n), doc.Int32(int32(n)))
		}
		put(name, doc.Object(closed(doc.AppendElement(o, "last", doc.Int32(int32(i))))))
	}
	for i, name := range []string{"nested", "nested2"} {
		v := array(100_000, func(n int) doc.Value { return doc.Int32(int32(n / 99_999 * i)) })
		for range 80 {
			v = array(1, func(int) doc.Value { return v })
		}
		put(name, v)
	}
	d, _ := doc.ParseDecimal("1234567890123456789E+6000")
	put("decimal", d.Value())
	put("decimals", array(20_000, func(int) doc.Value { return d.Value() }))
	put("date", doc.Value{Type: bsoncore.TypeDateTime, Data: make([]byte, 8)})
	put("ts", doc.Timestamp(7, 1))
	return doc.Object(closed(b))
}

func closed(b []byte) []byte {
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// TestEveryOperatorStops evaluates each operator again and again on values that are as large as can be, and has it stopped
// after a while.
func TestEveryOperatorStops(t *testing.T) {
	on := largeDocument()
	if n := len(on.Data); n > MaxResultBytes {
		t.Fatalf("the document has %d bytes", n)
	}
	names := Operators()
	slices.Sort(names)
	for _, name := range names {
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
	asked := 0
	stop := code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
	names := NewNames()
	s := &Scope{Now: storyNow, Random: func() float64 { return 0.5 }, Meter: &work.Meter{Stop: func() error {
		if asked++; asked >= asksAllowed {
			return stop
		}
		return nil
	}}}
	shown := text[:min(len(text), 150)]
	x, err := Compile(parse(t, text), names)
	if err != nil {
		t.Errorf("%s: %v", shown, err)
		return
	}
	s.Vars = make([]doc.Value, names.Slots())
	s.Reset(on)
	watch := clock.Start()
	_, err = x.Evaluate(s)
	took := watch.Elapsed()
	if !code.Is(err, code.MaxTimeMSExpired) || asked > asksAllowed {
		t.Errorf("%s: asked %d times: %.200v", shown, asked, err)
	}
	if took > watchdog {
		t.Errorf("%s stopped after %v", shown, took)
	}
	if testing.Verbose() {
		t.Logf("%8v %s", took.Round(time.Millisecond), shown)
	}
}
