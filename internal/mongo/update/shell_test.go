package update

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The notation of the stories: {_id: 1, "a b": [1.0, long(2), decimal(1.5), null, "x",
// true, date(0), ts(1, 2), oid("…"), bin(0, "00ff"), re("x", "i"), minKey, maxKey,
// undefined]}. 1 is an int and 1.0 a double.

type shell struct {
	text string
	at   int
}

func docIn(t testing.TB, text string) doc.Doc {
	t.Helper()
	d, ok := doc.AsDoc(valueIn(t, text))
	if !ok {
		t.Fatalf("%s is no document", text)
	}
	return d
}

func valueIn(t testing.TB, text string) (v doc.Value) {
	t.Helper()
	s := &shell{text: text}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: %v", text, r)
		}
	}()
	v = s.value()
	if s.space(); s.at < len(text) {
		t.Fatalf("%s: %q is left", text, text[s.at:])
	}
	return v
}

func (s *shell) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *shell) take(c byte) bool {
	if s.space(); s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *shell) must(c byte) {
	if !s.take(c) {
		panic(fmt.Sprintf("%q is wanted at %d", c, s.at))
	}
}

func (s *shell) word() string {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == '"' {
		return s.quoted()
	}
	from := s.at
	for s.at < len(s.text) && strings.IndexByte(" \t\n{}[](),:", s.text[s.at]) < 0 {
		s.at++
	}
	if from == s.at {
		panic(fmt.Sprintf("nothing at %d", s.at))
	}
	return s.text[from:s.at]
}

func (s *shell) quoted() string {
	rest := s.text[s.at:]
	prefix, err := strconv.QuotedPrefix(rest)
	if err != nil {
		panic(err)
	}
	s.at += len(prefix)
	text, _ := strconv.Unquote(prefix)
	return text
}

func (s *shell) value() doc.Value {
	switch {
	case s.take('{'):
		return doc.Object(s.members('}', true))
	case s.take('['):
		return doc.Array(s.members(']', false))
	}
	if s.text[s.at] == '"' {
		return doc.String(s.quoted())
	}
	word := s.word()
	if s.take('(') {
		var args []string
		for !s.take(')') {
			args = append(args, s.word())
			s.take(',')
		}
		return call(word, args)
	}
	return scalar(word)
}

func (s *shell) members(closing byte, named bool) doc.Doc {
	d := []byte{0, 0, 0, 0}
	for i := 0; !s.take(closing); i++ {
		name := strconv.Itoa(i)
		if named {
			name = s.word()
			s.must(':')
		}
		d = doc.AppendElement(d, name, s.value())
		if !s.take(',') {
			s.must(closing)
			break
		}
	}
	return end(d, 0)
}

func scalar(word string) doc.Value {
	switch word {
	case "null":
		return doc.Null()
	case "true", "false":
		return doc.Bool(word == "true")
	case "undefined":
		return doc.Value{Type: bsoncore.TypeUndefined}
	case "minKey":
		return doc.Value{Type: bsoncore.TypeMinKey}
	case "maxKey":
		return doc.Value{Type: bsoncore.TypeMaxKey}
	}
	if i, err := strconv.ParseInt(word, 10, 32); err == nil {
		return doc.Int32(int32(i))
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		panic(err)
	}
	return doc.Double(f)
}

func call(name string, args []string) doc.Value {
	number := func(i int) int64 {
		n, err := strconv.ParseInt(args[i], 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	switch name {
	case "long":
		return doc.Int(number(0))
	case "date":
		return doc.Date(number(0))
	case "ts":
		return doc.Timestamp(uint32(number(0)), uint32(number(1)))
	case "decimal":
		d, ok := doc.ParseDecimal(args[0])
		if !ok {
			panic(args[0])
		}
		return d.Value()
	case "oid":
		b, _ := hex.DecodeString(args[0])
		return doc.ObjectID([12]byte(b))
	case "bin":
		b, _ := hex.DecodeString(args[1])
		return doc.Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, byte(number(0)), b)}
	case "re":
		return doc.Value{Type: bsoncore.TypeRegex, Data: bsoncore.AppendRegex(nil, args[0], args[1])}
	}
	panic("unknown " + name)
}

// show writes a value in the notation.
func show(v doc.Value) string {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument, bsoncore.TypeArray:
		return showMembers(v)
	case bsoncore.TypeString:
		s, _ := doc.AsString(v)
		return strconv.Quote(s)
	case bsoncore.TypeInt64:
		i, _ := doc.AsInt(v)
		return fmt.Sprintf("long(%d)", i)
	case bsoncore.TypeDouble:
		return showDouble(v)
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		return fmt.Sprintf("decimal(%s)", d)
	case bsoncore.TypeDateTime:
		ms, _ := doc.AsDate(v)
		return fmt.Sprintf("date(%d)", ms)
	case bsoncore.TypeTimestamp:
		t, i := v.Timestamp()
		return fmt.Sprintf("ts(%d, %d)", t, i)
	case bsoncore.TypeObjectID:
		return fmt.Sprintf("oid(%q)", hex.EncodeToString(v.Data))
	case bsoncore.TypeBinary:
		return fmt.Sprintf("bin(%d, %q)", v.Data[4], hex.EncodeToString(v.Data[5:]))
	case bsoncore.TypeRegex:
		p, o := v.Regex()
		return fmt.Sprintf("re(%q, %q)", p, o)
	}
	return valueText(v)
}

func showDouble(v doc.Value) string {
	f, _ := doc.AsFloat(v)
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if f == math.Trunc(f) && !strings.ContainsAny(s, "eIN") {
		s += ".0"
	}
	return s
}

func showMembers(v doc.Value) string {
	var parts []string
	for name, m := range doc.Members(v.Data) {
		part := show(m)
		if v.Type == bsoncore.TypeEmbeddedDocument {
			if name == "" || strings.ContainsAny(name, " \t\n{}[](),:\"") {
				name = strconv.Quote(name)
			}
			part = name + ": " + part
		}
		parts = append(parts, part)
	}
	list := strings.Join(parts, ", ")
	if v.Type == bsoncore.TypeArray {
		return "[" + list + "]"
	}
	return "{" + list + "}"
}
