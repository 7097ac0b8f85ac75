// Package worktest is shared by the tests of packages that spend work: it has values about as large as a client can
// send, and a check that an operation on them can be stopped.
package worktest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// When the test stops the work, and how long the work may take to end on a busy machine.
const (
	asksAllowed = 5 // about 5 ms of work
	watchdog    = 2 * time.Second
)

// Stops calls run in a loop, stops it after a while, and fails the test if run never calls Stop, calls it again after
// its error, returns another error, or takes too long to end.
func Stops(t *testing.T, name string, run func(m *work.Meter) error) {
	t.Helper()
	name = name[:min(len(name), 150)]
	stop := code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
	asked := 0
	var longest time.Duration
	watch := clock.Start()
	last := clock.Start()
	m := &work.Meter{Stop: func() error {
		longest, last = max(longest, last.Elapsed()), clock.Start()
		if asked++; asked >= asksAllowed {
			return stop
		}
		return nil
	}}
	var err error
	for runs := 0; err == nil && m.Err() == nil && watch.Elapsed() < watchdog; runs++ {
		err = run(m)
	}
	took := watch.Elapsed()
	if !code.Is(err, code.MaxTimeMSExpired) || asked != asksAllowed {
		t.Errorf("%s: asked %d times whether to stop: %.200v", name, asked, err)
	}
	if took > watchdog {
		t.Errorf("%s stopped after %v", name, took)
	}
	if testing.Verbose() {
		t.Logf("%6v, %6v between two questions: %s", took.Round(time.Millisecond),
			max(longest, last.Elapsed()).Round(time.Millisecond), name)
	}
}

// Document is close to the largest possible document: long strings, long arrays, objects with many members, and deeply
// nested values that differ only at their end. It must not be changed.
var Document = sync.OnceValue(func() doc.Value {
	b := []byte{0, 0, 0, 0}
	put := func(name string, v doc.Value) { b = doc.AppendElement(b, name, v) }
	put("_id", doc.Int32(1))
	text := strings.Repeat("ab é ", 1<<18)
	put("text", doc.String(text+"y"))
	put("text2", doc.String(text+"x"))
	put("blank", doc.String(strings.Repeat(" ", 1<<20)))
	period := "x" + strings.Repeat("a", 15)
	put("periods", doc.String(strings.Repeat(period, 1<<16)))
	put("token", doc.String(strings.Repeat(period, 1<<13)+"y"))
	put("numbers", Array(100_000, func(i int) doc.Value { return doc.Int32(int32(i * 7919 % 100_000)) }))
	put("zeros", Array(100_000, func(int) doc.Value { return doc.Int32(0) }))
	put("words", Array(50_000, func(i int) doc.Value { return doc.String(fmt.Sprintf("word %d", i*7919%50_000)) }))
	put("objects", Array(30_000, func(i int) doc.Value {
		return Object("k", doc.String(fmt.Sprintf("k%d", i)), "v", doc.Int32(int32(i%100)))
	}))
	put("pairs", Array(30_000, func(i int) doc.Value {
		return Array(2, func(int) doc.Value { return doc.String(fmt.Sprint(i)) })
	}))
	for i, name := range []string{"object", "object2"} {
		o := []byte{0, 0, 0, 0}
		for n := range 50_000 {
			o = doc.AppendElement(o, fmt.Sprintf("m%d", n), doc.Int32(int32(n)))
		}
		put(name, doc.Object(closed(doc.AppendElement(o, "last", doc.Int32(int32(i))))))
	}
	for i, name := range []string{"nested", "nested2"} {
		v := Array(100_000, func(n int) doc.Value { return doc.Int32(int32(n / 99_999 * i)) })
		for range 80 {
			v = Array(1, func(int) doc.Value { return v })
		}
		put(name, v)
	}
	d, _ := doc.ParseDecimal("1234567890123456789E+6000")
	put("decimal", d.Value())
	put("decimals", Array(20_000, func(int) doc.Value { return d.Value() }))
	put("date", doc.Value{Type: bsoncore.TypeDateTime, Data: make([]byte, 8)})
	put("ts", doc.Timestamp(7, 1))
	return doc.Object(closed(b))
})

// Array makes an array of n elements.
func Array(n int, element func(i int) doc.Value) doc.Value {
	a := []byte{0, 0, 0, 0}
	for i := range n {
		a = doc.AppendElement(a, fmt.Sprint(i), element(i))
	}
	return doc.Array(closed(a))
}

// Object makes an object. Members are pairs of a name and a value.
func Object(members ...any) doc.Value {
	o := []byte{0, 0, 0, 0}
	for i := 0; i < len(members); i += 2 {
		o = doc.AppendElement(o, members[i].(string), members[i+1].(doc.Value))
	}
	return doc.Object(closed(o))
}

// Fields makes an object of n members.
func Fields(n int, member func(i int) (name string, v doc.Value)) doc.Value {
	o := []byte{0, 0, 0, 0}
	for i := range n {
		name, v := member(i)
		o = doc.AppendElement(o, name, v)
	}
	return doc.Object(closed(o))
}

func closed(b []byte) []byte {
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}
