package transfer

import (
	"bytes"
	"encoding/binary"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
)

// The structs of mongodump and mongorestore, whose bytes an archive has.
// https://github.com/mongodb/mongo-tools: common/archive/archive.go
type (
	theirHeader struct {
		ConcurrentCollections int32  `bson:"concurrent_collections"`
		FormatVersion         string `bson:"version"`
		ServerVersion         string `bson:"server_version"`
		ToolVersion           string `bson:"tool_version"`
	}
	theirMetadata struct {
		Database   string `bson:"db"`
		Collection string `bson:"collection"`
		Metadata   string `bson:"metadata"`
		Size       int    `bson:"size"`
		Type       string `bson:"type"`
	}
	theirNamespace struct {
		Database   string `bson:"db"`
		Collection string `bson:"collection"`
		EOF        bool   `bson:"EOF"`
		CRC        int64  `bson:"CRC"`
	}
)

// theirs makes an archive as mongodump does: two collections whose blocks alternate, and a view.
func theirs(t testing.TB, damage func(*theirNamespace)) []byte {
	t.Helper()
	var b []byte
	put := func(x any) []byte {
		text, err := bson.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, text...)
		return text
	}
	end := func() { b = binary.LittleEndian.AppendUint32(b, 0xffffffff) }
	b = binary.LittleEndian.AppendUint32(b, 0x8199e26d)
	put(theirHeader{4, "0.1", "7.0.14", "100.10.0"})
	put(theirMetadata{"shop", "carts", `{"indexes":[]}`, 0, "collection"})
	put(theirMetadata{"shop", "orders", "", 0, ""})
	put(theirMetadata{"shop", "view", `{"options":{"viewOn":"carts"},"indexes":[]}`, 0, "view"})
	end()
	sums := map[string]uint64{}
	for i := range 4 {
		name := []string{"carts", "orders"}[i%2]
		put(theirNamespace{Database: "shop", Collection: name})
		for j := range 2 {
			text := put(bson.D{{Key: "_id", Value: int32(10*i + j)}})
			sums[name] = crc64.Update(sums[name], crc64.MakeTable(crc64.ECMA), text)
		}
		end()
	}
	for _, name := range []string{"orders", "carts"} {
		head := theirNamespace{"shop", name, true, int64(sums[name])}
		if damage != nil {
			damage(&head)
		}
		put(head)
		end()
	}
	return b
}

func fileWith(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// all reads a source to its end.
func all(s Source, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer s.Close()
	var text strings.Builder
	for {
		row, err := s.Next()
		if err == io.EOF {
			return text.String(), nil
		}
		if err != nil {
			return text.String(), err
		}
		if row.Reason != "" {
			text.WriteString("rejected: " + row.Reason + "\n")
			continue
		}
		text.Write(append(row.Text, '\n'))
	}
}

func TestArchiveOfMongodump(t *testing.T) {
	path := fileWith(t, "x.archive", theirs(t, nil))
	got, err := all(Open(path, SourceOptions{Namespace: "shop.orders", Relaxed: true}))
	if want := "{\"_id\":10}\n{\"_id\":11}\n{\"_id\":30}\n{\"_id\":31}\n"; got != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	_, err = all(Open(path, SourceOptions{}))
	if err == nil || !strings.Contains(err.Error(), "shop.carts, shop.orders") {
		t.Errorf("%v, want a question for the collection", err)
	}
	if _, err := all(Open(path, SourceOptions{Namespace: "shop.x"})); err == nil {
		t.Error("a collection that is not there was read")
	}
	parts, err := Dump(path)
	if err != nil || len(parts) != 3 || parts[0].Metadata != `{"indexes":[]}` || parts[2].Path != "" {
		t.Errorf("%+v, %v", parts, err)
	}
}

func TestDamagedArchive(t *testing.T) {
	whole := theirs(t, nil)
	for name, text := range map[string][]byte{
		"checksum": theirs(t, func(n *theirNamespace) { n.CRC++ }),
		"a collection ends twice": theirs(t, func(n *theirNamespace) {
			if n.Collection == "orders" {
				n.Collection = "carts"
			}
		}),
		"other magic":   append([]byte{1, 2, 3, 4}, whole[4:]...),
		"other version": bytes.Replace(whole, []byte("0.1"), []byte("0.2"), 1),
		"empty":         {},
	} {
		if _, err := all(Open(fileWith(t, "x.archive", text), SourceOptions{Namespace: "shop.carts"})); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for n := range len(whole) { // cut off anywhere
		cut := fileWith(t, "x.archive", whole[:n])
		if _, err := all(Open(cut, SourceOptions{Namespace: "shop.carts"})); err == nil {
			t.Fatalf("cut off after %d bytes of %d: no error", n, len(whole))
		}
	}
}

// TestArchiveForMongorestore reads what is written here as mongorestore does.
func TestArchiveForMongorestore(t *testing.T) {
	var out bytes.Buffer
	n := Namespace{Database: "shop", Collection: "carts", Metadata: `{"indexes":[]}`}
	w, err := newArchiveWriter(&out, "1.2", []Namespace{n})
	if err != nil {
		t.Fatal(err)
	}
	d, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(1)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return w.begin(n) },
		func() error { return w.write(doc.Doc(d)) },
		func() error { return w.end(n) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	var want []byte
	put := func(x any) {
		text, err := bson.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, text...)
	}
	end := func() { want = binary.LittleEndian.AppendUint32(want, 0xffffffff) }
	want = binary.LittleEndian.AppendUint32(want, 0x8199e26d)
	put(theirHeader{1, "0.1", "7.0.0", "mayfly 1.2"})
	put(theirMetadata{"shop", "carts", `{"indexes":[]}`, 0, "collection"})
	end()
	put(theirNamespace{Database: "shop", Collection: "carts"})
	want = append(want, d...)
	end()
	put(theirNamespace{"shop", "carts", true, int64(crc64.Checksum(d, crc64.MakeTable(crc64.ECMA)))})
	end()
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("written\n%x\nas the structs of mongorestore have it\n%x", out.Bytes(), want)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(theirs(f, nil))
	f.Add(theirs(f, func(n *theirNamespace) { n.CRC++ }))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := newArchiveReader(bytes.NewReader(text))
		if err != nil {
			return
		}
		for {
			_, d, err := r.next()
			if err != nil {
				return
			}
			if err := d.Validate(); err != nil {
				t.Fatalf("a document that is no BSON: %v", err)
			}
		}
	})
}

func FuzzBSONFile(f *testing.F) {
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Add([]byte{255, 255, 255, 127, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.bson")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		lines, _ := all(Open(path, SourceOptions{}))
		for line := range strings.Lines(lines) {
			if strings.HasPrefix(line, "rejected") {
				continue
			}
			_, err := doc.FromJSON(nil, []byte(line), doc.ParseOptions{MaxBytes: MaxLine})
			if err != nil && !strings.Contains(err.Error(), "nested") {
				t.Fatalf("%s: %v", line, err)
			}
		}
	})
}

func TestArchiveWithALargeHead(t *testing.T) {
	defer func(before int) { maxArchiveHead = before }(maxArchiveHead)
	maxArchiveHead = 1000
	for _, c := range []struct {
		size int
		fits bool
	}{{100, true}, {300, false}} {
		var list []Namespace
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, Namespace{Database: "d", Collection: name, Metadata: strings.Repeat("x", c.size)})
		}
		var b bytes.Buffer
		if _, err := newArchiveWriter(&b, "test", list); err != nil {
			t.Fatal(err)
		}
		_, err := newArchiveReader(&b)
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "more than 1000 bytes") {
			t.Errorf("3 collections with %d bytes of metadata: %v", c.size, err)
		}
	}
}

// TestArchiveWithManyNames has blocks of collections that its head does not name.
func TestArchiveWithManyNames(t *testing.T) {
	defer func(before int) { maxArchiveHead = before }(maxArchiveHead)
	maxArchiveHead = 1000
	var b bytes.Buffer
	w, err := newArchiveWriter(&b, "test", nil)
	for i := 0; err == nil && i < 10; i++ {
		n := Namespace{Database: "d", Collection: strings.Repeat(string(rune('a'+i)), 200)}
		if err = w.begin(n); err == nil {
			err = w.end(n)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := newArchiveReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.next(); err == nil || !strings.Contains(err.Error(), "more than 1000 bytes") {
		t.Errorf("%v, want that the names are too much", err)
	}
}
