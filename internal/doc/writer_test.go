package doc_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestWriter(t *testing.T) {
	inner := bsoncore.NewDocumentBuilder().AppendInt32("a", 1).Build()
	w := doc.NewWriter([]byte("before"))
	w.String("gone", "x")
	w.Clear()
	w.Int32("i", -5)
	at := w.Size()
	w.Int64("id", 0)
	w.Count("small", 7)
	w.Count("large", 1<<40)
	w.Double("d", 1.5)
	w.Bool("b", true)
	w.String("s", "text")
	w.Date("date", 1000)
	w.Timestamp("ts", 3, 4)
	w.Null("null")
	w.Binary("bin", 4, make([]byte, 16))
	w.ObjectID("oid", [12]byte{1})
	w.Doc("doc", inner)
	w.Value("value", doc.Int(9))
	w.Value("missing", doc.Value{})
	w.Members(inner)
	w.Strings("strings", []string{"x", "y"})
	w.Int64s("longs", []int64{8})
	w.Array("array")
	for range 11 {
		w.Element(inner)
	}
	w.Object(w.Index())
	w.Array("empty")
	w.Close()
	w.Close()
	w.Close()
	w.PutInt64(at, "id", 1<<33)
	all := w.End()
	if string(all[:w.Start()]) != "before" {
		t.Errorf("the bytes before the document are %q", all[:w.Start()])
	}
	d := bsoncore.Document(all[w.Start():])
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	b := bsoncore.NewDocumentBuilder().AppendInt32("i", -5).AppendInt64("id", 1<<33).AppendInt32("small",
		7).AppendInt64("large", 1<<40).
		AppendDouble("d", 1.5).AppendBoolean("b", true).AppendString("s", "text").AppendDateTime("date",
		1000).AppendTimestamp("ts", 3, 4).
		AppendNull("null").AppendBinary("bin", 4, make([]byte, 16)).AppendObjectID("oid",
		[12]byte{1}).AppendDocument("doc", inner).
		AppendInt64("value", 9).AppendInt32("a", 1)
	b.AppendArray("strings", bsoncore.NewArrayBuilder().AppendString("x").AppendString("y").Build())
	b.AppendArray("longs", bsoncore.NewArrayBuilder().AppendInt64(8).Build())
	list := bsoncore.NewArrayBuilder()
	for range 11 {
		list.AppendDocument(inner)
	}
	list.AppendDocument(bsoncore.NewDocumentBuilder().AppendArray("empty", bsoncore.NewArrayBuilder().Build()).Build())
	b.AppendArray("array", list.Build())
	if want := bsoncore.Document(b.Build()); string(d) != string(want) {
		t.Errorf("%s, want\n%s", d, want)
	}
}

// A document whose members were taken from one Writer into another is the same.
func TestWriterAppend(t *testing.T) {
	w := doc.NewWriter(nil)
	w.Int32("a", 1)
	other := doc.NewWriter(nil)
	other.Append(w.Written())
	if a, b := w.End(), other.End(); string(a) != string(b) {
		t.Errorf("%x, want %x", b, a)
	}
}
