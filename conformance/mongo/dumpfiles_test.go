package mongo

import (
	"bytes"
	"compress/gzip"
	endian "encoding/binary"
	"fmt"
	"hash/crc64"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The files of mongodump and mongorestore, written and read here by their structs and their specification, with the
// official BSON library, and without mayfly's code.
// https://github.com/mongodb/mongo-tools: mongodump/metadata_dump.go, mongorestore/metadata.go, common/archive/spec.md
type (
	metadata struct {
		Options        bson.Raw   `bson:"options,omitempty"`
		Indexes        []bson.Raw `bson:"indexes"`
		UUID           string     `bson:"uuid,omitempty"`
		CollectionName string     `bson:"collectionName"`
		Type           string     `bson:"type,omitempty"`
	}
	archiveHead struct {
		Concurrent int32  `bson:"concurrent_collections"`
		Version    string `bson:"version"`
		Server     string `bson:"server_version"`
		Tool       string `bson:"tool_version"`
	}
	archiveCollection struct {
		DB         string `bson:"db"`
		Collection string `bson:"collection"`
		Metadata   string `bson:"metadata"`
		Size       int    `bson:"size"`
		Type       string `bson:"type"`
	}
	archiveBlock struct {
		DB         string `bson:"db"`
		Collection string `bson:"collection"`
		EOF        bool   `bson:"EOF"`
		CRC        int64  `bson:"CRC"`
	}
)

var archiveSums = crc64.MakeTable(crc64.ECMA)

func (d *dump) metadata(t *testing.T) []byte {
	t.Helper()
	m := metadata{d.options, append([]bson.Raw{}, d.indexes...), strings.Repeat("0a", 16), d.name, d.kind}
	text, err := bson.MarshalExtJSON(m, true, false)
	must(t, err)
	return text
}

func (d *dump) readMetadata(t *testing.T, text []byte) {
	t.Helper()
	var m metadata
	must(t, bson.UnmarshalExtJSON(text, true, &m))
	d.name, d.kind, d.options, d.indexes = m.CollectionName, m.Type, m.Options, m.Indexes
	if d.options == nil {
		d.options = bson.Raw{5, 0, 0, 0, 0}
	}
}

// packed writes a file, with gzip if its name ends so.
func packed(t *testing.T, path string, text []byte) {
	t.Helper()
	if strings.HasSuffix(path, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(text)
		must(t, err)
		must(t, z.Close())
		text = b.Bytes()
	}
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, text, 0o600))
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(text))
		must(t, err)
		text, err = io.ReadAll(z)
		must(t, err)
	}
	return text
}

// writeFolder writes what mongodump --out writes, with --gzip if end is .gz.
func writeFolder(t *testing.T, folder, end string, all []dump) {
	t.Helper()
	prelude := []byte(`{"ServerVersion":"7.0.14","ToolVersion":"100.13.0"}`)
	packed(t, filepath.Join(folder, "from", "prelude.json"+end), prelude)
	for _, d := range all {
		name := filepath.Join(folder, "from", url.PathEscape(d.name))
		packed(t, name+".metadata.json"+end, d.metadata(t))
		if d.kind == "collection" {
			packed(t, name+".bson"+end, bytes.Join(raws(d.documents), nil))
		}
	}
}

func raws(list []bson.Raw) (all [][]byte) {
	for _, raw := range list {
		all = append(all, raw)
	}
	return all
}

// writeArchive writes what mongodump --archive writes: blocks of all collections in turn.
func writeArchive(t *testing.T, path string, all []dump) {
	t.Helper()
	b := endian.LittleEndian.AppendUint32(nil, 0x8199e26d)
	put := func(x any) {
		text, err := bson.Marshal(x)
		must(t, err)
		b = append(b, text...)
	}
	end := func() { b = endian.LittleEndian.AppendUint32(b, 0xffffffff) }
	put(archiveHead{4, "0.1", "7.0.14", "100.13.0"})
	for _, d := range all {
		put(archiveCollection{"from", d.name, string(d.metadata(t)), 0, d.kind})
	}
	end()
	const block = 700
	for i, more := 0, true; more; i++ {
		more = false
		for _, d := range all {
			if i*block < len(d.documents) {
				put(archiveBlock{DB: "from", Collection: d.name})
				b = append(b, bytes.Join(raws(d.documents[i*block:min((i+1)*block, len(d.documents))]), nil)...)
				end()
				more = true
			}
		}
	}
	for _, d := range all {
		if d.kind == "collection" {
			sum := crc64.Checksum(bytes.Join(raws(d.documents), nil), archiveSums)
			put(archiveBlock{"from", d.name, true, int64(sum)})
			end()
		}
	}
	packed(t, path, b)
}

// readFolder reads one collection as mongorestore --dir does.
func readFolder(t *testing.T, folder, collection string) (d dump) {
	t.Helper()
	d.readMetadata(t, unpacked(t, filepath.Join(folder, collection+".metadata.json")))
	in := bytes.NewReader(unpacked(t, filepath.Join(folder, collection+".bson")))
	for in.Len() > 0 {
		raw, err := bson.ReadDocument(in)
		must(t, err)
		d.documents = append(d.documents, raw)
	}
	return d
}

// readArchive reads an archive with one collection as mongorestore --archive does.
func readArchive(t *testing.T, path string) (d dump) {
	t.Helper()
	in := bytes.NewReader(unpacked(t, path))
	var magic, terminator uint32
	must(t, endian.Read(in, endian.LittleEndian, &magic))
	next := func(x any) {
		raw, err := bson.ReadDocument(in)
		must(t, err)
		must(t, bson.Unmarshal(raw, x))
	}
	end := func() {
		must(t, endian.Read(in, endian.LittleEndian, &terminator))
		if terminator != 0xffffffff {
			t.Fatalf("%s: a terminator is missing", path)
		}
	}
	var head archiveHead
	var collection archiveCollection
	next(&head)
	next(&collection)
	end()
	if magic != 0x8199e26d || head.Version != "0.1" || collection.DB != "from" {
		t.Fatalf("%s begins with %x %+v %+v", path, magic, head, collection)
	}
	d.readMetadata(t, []byte(collection.Metadata))
	sum := crc64.New(archiveSums)
	for {
		var block archiveBlock
		next(&block)
		if block.EOF {
			if end(); block.CRC != int64(sum.Sum64()) || in.Len() > 0 {
				t.Fatalf("%s ends with %+v and %d bytes, its sum is %d", path, block, in.Len(), int64(sum.Sum64()))
			}
			return d
		}
		for {
			var length [4]byte
			_, err := in.ReadAt(length[:], in.Size()-int64(in.Len()))
			must(t, err)
			if endian.LittleEndian.Uint32(length[:]) == 0xffffffff {
				end()
				break
			}
			raw, err := bson.ReadDocument(in)
			must(t, err)
			_, _ = sum.Write(raw)
			d.documents = append(d.documents, raw)
		}
	}
}

// command runs the binary against a server.
func (s *server) command(t *testing.T, args ...string) string {
	t.Helper()
	text, err := exec.Command(binary, append(args, "--admin", s.admin)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, text)
	}
	return string(text)
}

// What mongodump reads and writes, mayfly imports; what mayfly exports, mongorestore reads and writes: the same
// collections, options, indexes and documents, byte for byte, and the same lives.
func TestDumpFiles(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := start(t, "--data", t.TempDir(), "--clock", "virtual="+now.Format(time.RFC3339))
	client := s.connect(t, "")
	ctx := within(t, 3*patience)
	from := client.Database("from")
	var documents []any
	for i := range 2000 {
		at := now.Add(time.Duration(i) * time.Second)
		documents = append(documents, append(everyType(i), bson.E{Key: "at", Value: at}))
	}
	types := from.Collection("types")
	_, err := types.InsertMany(ctx, documents)
	must(t, err)
	_, err = types.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600)},
		{Keys: bson.D{{Key: "_ts", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(86400)},
		{Keys: bson.D{{Key: "long", Value: -1}}, Options: options.Index().SetUnique(true).SetName("the long one")},
		{Keys: bson.D{{Key: "double", Value: 1}},
			Options: options.Index().SetPartialFilterExpression(bson.D{{Key: "bool", Value: true}})},
	})
	must(t, err)
	must(t, from.CreateCollection(ctx, "some/carts & more", options.CreateCollection().SetValidationAction("warn").
		SetValidator(bson.D{{Key: "$jsonSchema", Value: bson.D{{Key: "required", Value: bson.A{"a"}}}}})))
	_, err = from.Collection("some/carts & more").InsertOne(ctx, bson.D{{Key: "_id", Value: "x"}})
	must(t, err)
	must(t, from.CreateCollection(ctx, "empty"))
	must(t, from.CreateView(ctx, "view", "types",
		bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "int", Value: bson.D{{Key: "$lt", Value: -1990}}}}}}}))
	kept, dir := dumped(ctx, t, from), t.TempDir()

	databases := []string{"from"}
	for i, form := range []string{"folder", "folder.gz", "x.archive", "x.archive.gz"} {
		path := filepath.Join(dir, form)
		if end := filepath.Ext(form); strings.HasPrefix(form, "folder") {
			writeFolder(t, path, end, kept)
		} else {
			writeArchive(t, path, kept)
		}
		name := fmt.Sprint("imported", i)
		s.command(t, "import", path, "--to", name)
		compareDumps(t, form, dumped(ctx, t, client.Database(name)), kept)
		databases = append(databases, name)
	}
	for i, c := range []struct {
		out  string
		read func() dump
	}{
		{"out/", func() dump { return readFolder(t, filepath.Join(dir, "out", "from"), "types") }},
		{"out.archive", func() dump { return readArchive(t, filepath.Join(dir, "out.archive")) }},
		{"out.archive.gz", func() dump { return readArchive(t, filepath.Join(dir, "out.archive.gz")) }},
	} {
		args := []string{"export", "from/types", dir + "/" + c.out}
		if c.out == "out/" {
			args = append(args, "--format", "bson")
		}
		s.command(t, args...)
		name := fmt.Sprint("restored", i)
		restore(ctx, t, client.Database(name), []dump{c.read()})
		compareDumps(t, c.out, dumped(ctx, t, client.Database(name)), kept[2:3])
		databases = append(databases, name)
	}
	s.advance(t, time.Hour+1000*time.Second)
	for _, name := range databases {
		if n := count(t, client.Database(name).Collection("types"), bson.D{}); n != 999 {
			t.Errorf("%s: %d documents live, want 999", name, n)
		}
	}
}

func compareDumps(t *testing.T, form string, got, kept []dump) {
	t.Helper()
	if len(got) != len(kept) {
		t.Fatalf("%s: %d collections became %d", form, len(kept), len(got))
	}
	for i, want := range kept {
		have := got[i]
		if have.name != want.name || have.kind != want.kind || !bytes.Equal(have.options, want.options) {
			t.Errorf("%s: %s %s %s became %s %s %s", form, want.kind, want.name, want.options, have.kind, have.name,
				have.options)
		}
		equalRaw(t, form+": "+want.name+" indexes", have.indexes, want.indexes)
		equalRaw(t, form+": "+want.name+" documents", have.documents, want.documents)
	}
}
