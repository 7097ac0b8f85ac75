package transfer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestSources(t *testing.T) {
	for _, c := range []struct {
		name, file, text, want string
		fails                  string
	}{
		{"lines", "a.jsonl", "{\"a\":1}\r\n\n  \n{\"b\":2}", "{\"a\":1}\n{\"b\":2}\n", ""},
		{"lines of an export", "a.jsonl", "{\"a\":1}\n{\"$position\":\"1.2\",\"done\":true}\n", "{\"a\":1}\n", ""},
		{"a mark of Windows", "a.jsonl", "\ufeff{\"a\":1}\n", "{\"a\":1}\n", ""},
		{"no name that says more", "data", "{\"a\":1}\n", "{\"a\":1}\n", ""},
		{"nothing", "a.jsonl", "", "", ""},
		{"an array", "a.json", "\n [ {\"a\": 1},\n {\"b\": [ ]} ]\n", "{\"a\":1}\n{\"b\":[]}\n", ""},
		{"an empty array", "a.json", "[]", "", ""},
		{"pretty", "a.json", "{\n  \"a\": 1\n}\n{\n\"b\":2}", "{\"a\":1}\n{\"b\":2}\n", ""},
		{"nothing in JSON", "a.json", " ", "", ""},
		{"an array that is cut off", "a.json", "[{\"a\":1},", "{\"a\":1}\n", "unexpected EOF"},
		{"something after an array", "a.json", "[{\"a\":1}] x", "{\"a\":1}\n", "follows the end"},
		{"no JSON", "a.json", "{\"a\":1} {x", "{\"a\":1}\n", "document 2"},
		{"CSV", "a.csv", "\ufeffa,b b\n1,x\n\"\"\"1\"\"\",\n", "{\"a\":1,\"b b\":\"x\"}\n{\"a\":\"1\"}\n", ""},
		{"values of CSV", "a.csv",
			"a\n007\n-1.5e3\ntrue\nnull\nTrue\n\"{\"\"x\"\":[1,\n2]}\"\n[\n\"[\"\"a\"\"]\"\n\"\"\"\"\"\"\n",
			"{\"a\":\"007\"}\n{\"a\":-1.5e3}\n{\"a\":true}\n{\"a\":null}\n{\"a\":\"True\"}\n{\"a\":{\"x\":[1, " +
				"2]}}\n{\"a\":\"[\"}\n{\"a\":[\"a\"]}\n{\"a\":\"\"}\n", ""},
		{"a record of CSV with too much", "a.csv", "a\n1,2\n3\n",
			"rejected: record on line 2: wrong number of fields\n{\"a\":3}\n", ""},
		{"columns of one name", "a.csv", "a,a\n", "", "a name of its own"},
		{"no header", "a.csv", "", "", "header"},
		{"BSON that is none", "a.bson", "hello world", "", "no BSON"},
		{"a document that is cut off", "a.bson", "\x05\x00\x00\x00\x00\x08\x00\x00\x00\x00", "{}\n",
			"document 2, at byte 5"},
		{"an unknown format", "a.xml", "", "", ""},
	} {
		got, err := all(Open(fileWith(t, c.file, []byte(c.text)), SourceOptions{}))
		if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v, want %q, %q", c.name, got, err, c.want, c.fails)
		}
	}
	if _, err := Open(t.TempDir(), SourceOptions{}); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := Open(fileWith(t, "x", nil), SourceOptions{Format: "xml"}); err == nil {
		t.Error("an unknown format was opened")
	}
}

func TestLongLines(t *testing.T) {
	r := NewLineReader(strings.NewReader(strings.Repeat("x", 700_000)+"\nshort\n"+strings.Repeat("y", 300_000)),
		500_000)
	for _, want := range []struct {
		length  int
		tooLong bool
	}{{0, true}, {5, false}, {300_000, false}} {
		line, _, tooLong, err := r.Next()
		if err != nil || len(line) != want.length || tooLong != want.tooLong {
			t.Errorf("%d bytes, too long %v, %v, want %+v", len(line), tooLong, err, want)
		}
	}
}

// FuzzCSVCell holds every string to the rule that its cell reads back as it.
func FuzzCSVCell(f *testing.F) {
	for _, s := range []string{"", "x", "7", "007", "true", `"`, `"x"`, "{", "a\r\nb", " ", "\x00", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ToValidUTF8(s, "") != s {
			return
		}
		path := filepath.Join(t.TempDir(), "x.csv")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newCSVWriter(out, []string{"a", "b"}, true)
		if err != nil {
			t.Fatal(err)
		}
		line := doc.AppendJSON(nil, doc.With(doc.With(nil, "a", doc.String(s)), "b", doc.Int(1)))
		if err := w.write(line); err != nil {
			t.Fatal(err)
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		if got, err := all(Open(path, SourceOptions{})); got != string(line)+"\n" || err != nil {
			t.Fatalf("%q became %q, %v", line, got, err)
		}
	})
}

func TestDumpFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shop/carts.bson":          "\x05\x00\x00\x00\x00",
		"shop/carts.metadata.json": `{"indexes":[{"v":{"$numberInt":"2"},"key":{"_id":{"$numberInt":"1"}},"name":"_id_","ns":"shop.carts"}]}`,
		"shop/caf%C3%A9.bson":      "", "shop/long%24x.bson": "",
		"shop/long%24x.metadata.json": `{"indexes":[],"collectionName":"longer"}`,
		"shop/view.metadata.json":     `{"options":{"viewOn":"carts","pipeline":[]},"indexes":[]}`,
		"shop/system.users.bson":      "", "shop/$admin.system.users.bson": "",
		"oplog.bson": "", "README": "", "shop/deep/more/x.bson": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{dir, filepath.Join(dir, "shop")} {
		parts, err := Dump(from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range parts {
			d, err := DefinitionOf(p.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			line := p.String() + " " + filepath.Base(p.Path) + " " + string(d.Options)
			for _, index := range d.Indexes {
				line += string(index)
			}
			got = append(got, line)
		}
		want := []string{
			"shop.café caf%C3%A9.bson ", `shop.carts carts.bson {"key":{"_id":{"$numberInt":"1"}},"name":"_id_"}`,
			"shop.longer long%24x.bson ", `shop.view . {"viewOn":"carts","pipeline":[]}`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDumpOfLongNames exports collections whose names are too long for files, also where the cut divides a letter, and
// finds them again.
func TestDumpOfLongNames(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 238), strings.Repeat("x", 239), strings.Repeat("é", 110),
		"a" + strings.Repeat("é", 110), "ab" + strings.Repeat("é", 110), strings.Repeat("/", 240)} {
		dir := t.TempDir()
		n := Namespace{Database: "d", Collection: name}
		path := FileOf(dir, n)
		metadata, err := Definition{ID: name, Dialect: DialectMongo}.Metadata()
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", ".gz"} {
			o := ExportOptions{
				Format: BSON, Namespace: n, Checkpoint: Beside(path+end, ".mayfly-export"), CheckpointBytes: 1,
			}
			if _, err := Export(t.Context(), shaky{whole}, path+end, nil, o); err != nil {
				t.Fatal(err)
			}
			if err := WriteMetadata(path+end, metadata); err != nil {
				t.Fatal(err)
			}
			parts, err := Dump(dir)
			if err != nil || len(parts) != 1 || parts[0].Collection != name {
				t.Errorf("%d bytes: %+v %v", len(name), parts, err)
			}
			if err := os.RemoveAll(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
}
