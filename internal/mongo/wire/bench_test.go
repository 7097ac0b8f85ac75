package wire

import (
	"bytes"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// order is a document of about 1 KiB as applications have them.
func order() doc.Doc {
	line := build(func(b *bsoncore.DocumentBuilder) {
		b.AppendString("sku", "BK-R93R-62").AppendString("name", "Road-150 Red, 62").AppendInt32("qty",
			1).AppendDouble("price", 999.99)
	})
	return build(func(b *bsoncore.DocumentBuilder) {
		b.AppendObjectID("_id", [12]byte{1}).AppendString("customerId", "c-84713").AppendString("status", "shipped")
		b.AppendDouble("total", 1249.95).AppendDateTime("placedAt", 1791622994000).AppendInt64("rev",
			7).AppendBoolean("gift", false)
		b.AppendString("note", "Bitte klingeln, Hinterhaus, zweiter Stock links")
		b.AppendDocument("address", build(func(b *bsoncore.DocumentBuilder) {
			b.AppendString("street", "Lindenstraße 12").AppendString("city", "Berlin").AppendString("zip", "10969")
			b.AppendDouble("lat", 52.5034).AppendDouble("lon", 13.3969)
		}))
		lines := bsoncore.NewArrayBuilder()
		for range 7 {
			lines.AppendDocument(line)
		}
		b.AppendArray("items", lines.Build())
		b.AppendArray("tags",
			bsoncore.NewArrayBuilder().AppendString("bike").AppendString("online").AppendString("priority").Build())
	})
}

func BenchmarkValidate(b *testing.B) {
	numbers := build(func(b *bsoncore.DocumentBuilder) {
		for range 70 {
			b.AppendInt32("counter", 1)
		}
	})
	long := build(func(b *bsoncore.DocumentBuilder) {
		b.AppendString("text", string(bytes.Repeat([]byte("mayfly "), 146)))
	})
	for _, c := range []struct {
		name string
		d    doc.Doc
	}{{"order", order()}, {"numbers", numbers}, {"text", long}, {"tiny", one}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.d)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Validate(c.d, MaxDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	d := order()
	documents := make([]doc.Doc, 1000)
	for i := range documents {
		documents[i] = d
	}
	find := msgOf(0, bodyOf(ping))
	insert := msgOf(0, bodyOf(ping), sequenceOf("documents", d))
	many := msgOf(0, bodyOf(ping), sequenceOf("documents", documents...))
	for _, c := range []struct {
		name  string
		frame []byte
	}{
		{"find", find}, {"insert", insert}, {"insert1000", many}, {"handshake", queryOf("admin.$cmd", ping)},
		{"snappy", packedOf(Snappy, insert)}, {"zlib", packedOf(Zlib, insert)}, {"zstd", packedOf(Zstd, insert)},
		{"zstd1000", packedOf(Zstd, many)},
	} {
		b.Run(c.name, func(b *testing.B) {
			from := bytes.NewReader(nil)
			r := NewReader(from)
			var m Message
			b.SetBytes(int64(len(c.frame)))
			b.ReportAllocs()
			for b.Loop() {
				from.Reset(c.frame)
				if err := r.Read(&m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReply(b *testing.B) {
	batch := build(func(b *bsoncore.DocumentBuilder) {
		a := bsoncore.NewArrayBuilder()
		for range 101 {
			a.AppendDocument(order())
		}
		b.AppendArray("firstBatch", a.Build())
	})
	for _, c := range []struct {
		name string
		m    Message
		body doc.Doc
	}{
		{"one", Message{Op: OpMsg}, order()}, {"handshake", Message{Op: OpQuery}, order()},
		{"batch", Message{Op: OpMsg}, batch},
		{"snappy", Message{Op: OpMsg, Compressor: Snappy}, batch},
		{"zlib", Message{Op: OpMsg, Compressor: Zlib}, batch}, {"zstd", Message{Op: OpMsg, Compressor: Zstd}, batch},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := NewWriter(io.Discard)
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := reply(w, &c.m, 1, 0, c.body); err != nil {
					b.Fatal(err)
				}
				if err := w.Flush(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
