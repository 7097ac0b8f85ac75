package bulk_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/transfer"
)

var moveSize = flag.Int("items", 20_000, "items of the test that imports, interrupts, goes on, exports and compares")

// A near is a container of the same process, as a target and an origin.
type near struct {
	w         *world
	container string
	// before and after are asked before a chunk is written, and before its acknowledgement is given.
	before, after func() error
	pieces        func(io.Reader) io.Reader // how an export arrives
}

func (n *near) Import(ctx context.Context, lines []byte, way transfer.Way) (transfer.Outcome, error) {
	if n.before != nil {
		if err := n.before(); err != nil {
			return transfer.Outcome{}, err
		}
	}
	resent := map[bool]string{false: "no", true: "yes"}[way.Resent]
	done, err := n.w.do(n.container, string(lines), "stamps="+string(way.Stamps), "onConflict="+string(way.OnConflict),
		"resent="+resent)
	if err == nil && n.after != nil {
		err = n.after()
	}
	return done, err
}

func (n *near) Export(ctx context.Context, after string) (io.ReadCloser, error) {
	in, out := io.Pipe()
	query := map[string][]string{}
	if after != "" {
		query["after"] = []string{after}
	}
	go func() { out.CloseWithError(n.w.lines.Export(ctx, "d", n.container, query, out)) }()
	if n.pieces != nil {
		return struct {
			io.Reader
			io.Closer
		}{n.pieces(in), in}, nil
	}
	return in, nil
}

// opened opens a file as a source again and again.
func opened(path string, o transfer.SourceOptions) func() (transfer.Source, error) {
	return func() (transfer.Source, error) { return transfer.Open(path, o) }
}

func (w *world) write(name, text string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), name)
	w.ok(os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (w *world) read(path string) string {
	w.Helper()
	text, err := os.ReadFile(path)
	w.ok(err)
	return string(text)
}

var keepAndSkip = transfer.Way{Stamps: transfer.KeepStamps, OnConflict: transfer.SkipExisting}

// TestMoveInterrupted imports a file whose stamps are in no order, with interruptions before and after chunks are
// written, exports it with interruptions, and compares.
func TestMoveInterrupted(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for _, way := range []transfer.Way{
		keepAndSkip, {Stamps: transfer.KeepStamps, OnConflict: transfer.RejectExisting},
		{Stamps: transfer.KeepStamps, OnConflict: transfer.ReplaceExisting},
	} {
		t.Run(string(way.OnConflict), func(t *testing.T) {
			w := newWorld(t)
			path := filepath.Join(t.TempDir(), "in.jsonl")
			want := w.unsorted(path, *moveSize, r)
			interrupted := errors.New("interrupted")
			fails := func() error {
				if r.IntN(5) == 0 {
					return interrupted
				}
				return nil
			}
			to := &near{w: w, container: "items", before: fails, after: fails}
			o := transfer.ImportOptions{Way: way, Source: path, Checkpoint: path + ".checkpoint",
				ChunkRows: *moveSize/20 + 1}
			times := again(t, interrupted, func() error {
				o.ChunkRows = *moveSize/20 + r.IntN(100)
				done, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o)
				if err == nil &&
					(done.Rows != int64(*moveSize) || done.Written+done.Skipped != *moveSize || done.Rejected != 0) {
					t.Errorf("%+v", done)
				}
				return err
			})
			if _, err := os.Stat(o.Checkpoint); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the checkpoint is left: %v", err)
			}
			out := filepath.Join(t.TempDir(), "out.jsonl")
			to.pieces = func(in io.Reader) io.Reader {
				return io.MultiReader(io.LimitReader(in, 1+r.Int64N(64*int64(*moveSize))), broken{interrupted})
			}
			goesOn := transfer.ExportOptions{
				Format: transfer.JSONLines, Source: "d/items", Checkpoint: out + ".checkpoint",
				CheckpointBytes: 100_000,
			}
			parts := again(t, interrupted, func() error {
				_, err := transfer.Export(t.Context(), to, out, nil, goesOn)
				return err
			})
			if got := w.read(out); got != want {
				t.Errorf("%d bytes came out, %d went in", len(got), len(want))
			}
			t.Log(times, "runs of the import,", parts, "of the export")
		})
	}
}

// TestMoveVersionsOfOneSecond loses the answer to a chunk that has two versions of one item with the same stamp, and a
// later item: the import goes on, and the last version is there.
func TestMoveVersionsOfOneSecond(t *testing.T) {
	w := newWorld(t)
	path := w.write("in.jsonl", `{"id":"a","v":1,"_ts":999990}
{"id":"a","v":2,"_ts":999990}
{"id":"b","_ts":999991}
`)
	lost := errors.New("lost")
	to := &near{w: w, container: "items", after: func() error { return lost }}
	o := transfer.ImportOptions{
		Way:    transfer.Way{Stamps: transfer.KeepStamps, OnConflict: transfer.ReplaceExisting},
		Source: path, Checkpoint: path + ".c",
	}
	if _, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	to.after = nil
	done, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o)
	w.ok(err)
	if done.Skipped != 3 || done.Rejected != 0 {
		t.Errorf("%+v, want all three skipped", done)
	}
	got, err := w.export("items", "positions=no")
	w.ok(err)
	if want := "{\"id\":\"a\",\"v\":2,\"_ts\":999990}\n{\"id\":\"b\",\"_ts\":999991}\n"; got != want {
		t.Errorf("exported %s, want %s", got, want)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// again calls do until it does not fail, and says how often.
func again(t *testing.T, interrupted error, do func() error) (times int) {
	for {
		times++
		switch err := do(); {
		case err == nil:
			return times
		case !errors.Is(err, interrupted):
			t.Fatal(err)
		}
	}
}

// unsorted writes items in no order, and returns the lines that come out again.
func (w *world) unsorted(path string, count int, r *rand.Rand) string {
	w.Helper()
	type item struct {
		stamp int64
		line  string
	}
	items := make([]item, count)
	for i := range items {
		stamp := w.now - 90 + r.Int64N(90)
		items[i] = item{stamp,
			fmt.Sprintf(`{"id":"item-%d","pk":"%d","n":%d,"text":"é%0*d","_ts":%d}`, i, i%97, i, r.IntN(40), i, stamp)}
	}
	f, err := os.Create(path)
	w.ok(err)
	b := bufio.NewWriter(f)
	for _, x := range items {
		fmt.Fprintln(b, x.line)
	}
	w.ok(b.Flush())
	w.ok(f.Close())
	slices.SortStableFunc(items, func(a, b item) int { return int(a.stamp - b.stamp) })
	var want strings.Builder
	for _, x := range items {
		want.WriteString(x.line + "\n")
	}
	return want.String()
}

func TestFormatsThereAndBack(t *testing.T) {
	for _, c := range []struct {
		container, lines string
		formats          []transfer.Format
	}{
		{"items", `{"id":"a","pk":"p","n":1.5,"deep":{"list":[1,"x",null,true]},"t":"say \"hi\"\r\n,;é"}
{"id":"b","pk":"007","n":18446744073709551615,"t":"","u":"true","v":"[1]","w":"1e5","x":" y "}
{"id":"c","pk":"p","f":false,"o":{},"l":[]}
`, transfer.Formats},
		{"documents",
			`{"_id":{"$numberLong":"1"},"d":{"$date":{"$numberLong":"1"}},"i":{"$numberInt":"5"},"f":{"$numberDouble":"5.0"}}
{"_id":{"$oid":"0102030405060708090a0b0c"},"b":{"$binary":{"base64":"AQI=","subType":"00"}},"_ts":"mine"}
`, transfer.Formats},
	} {
		for _, format := range c.formats {
			for _, packed := range []bool{false, true} {
				t.Run(fmt.Sprint(c.container, "-", format, "-", packed), func(t *testing.T) {
					thereAndBack(t, c.container, c.lines, format, packed)
				})
			}
		}
	}
}

// thereAndBack exports lines in a format, and imports that into another container.
func thereAndBack(t *testing.T, container, lines string, format transfer.Format, packed bool) {
	a, b := newWorld(t), newWorld(t)
	way := transfer.Way{Stamps: transfer.NewStamps, OnConflict: transfer.RejectExisting}
	path := a.write("in.jsonl", lines)
	done, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), &near{w: a, container: container},
		transfer.ImportOptions{Way: way})
	a.ok(err)
	if done.Rejected > 0 {
		t.Fatalf("%+v", done)
	}
	out := filepath.Join(t.TempDir(), "out."+string(format))
	_, err = transfer.Export(t.Context(), &near{w: a, container: container}, out, nil,
		transfer.ExportOptions{Format: format, Namespace: transfer.Namespace{Database: "d", Collection: "c"}})
	a.ok(err)
	if packed {
		out = b.write("out.gz", zipped(t, a.read(out)))
	}
	o := transfer.SourceOptions{Format: format, Relaxed: container == "items"}
	done, err = transfer.Import(t.Context(), opened(out, o), &near{w: b, container: container},
		transfer.ImportOptions{Way: way})
	b.ok(err)
	if done.Rejected > 0 {
		t.Fatalf("%+v", done)
	}
	got, err := b.export(container, "positions=no")
	b.ok(err)
	want, err := a.export(container, "positions=no")
	a.ok(err)
	if format == transfer.CSV {
		got, want = ordered(t, got), ordered(t, want) // members come in the order of the columns
	}
	if got != want {
		t.Errorf("got  %s\nwant %s\nby way of %s", got, want, b.read(out))
	}
}

// ordered sorts the members of each line.
func ordered(t *testing.T, lines string) string {
	var out []string
	for line := range strings.Lines(lines) {
		d, err := doc.FromJSON(nil, []byte(line), doc.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var members []string
		for name, v := range doc.Members(d) {
			members = append(members, name+":"+string(doc.AppendJSONValue(nil, v)))
		}
		slices.Sort(members)
		out = append(out, strings.Join(members, ","))
	}
	return strings.Join(out, "\n")
}

func TestKeepsOrderOfEveryFormat(t *testing.T) {
	for _, format := range []transfer.Format{transfer.JSONLines, transfer.JSON, transfer.CSV} {
		w := newWorld(t)
		text := map[transfer.Format]string{
			transfer.JSONLines: "{\"id\":\"b\",\"_ts\":999990}\nnonsense\n{\"id\":\"a\",\"_ts\":999980}\n{\"id\":\"none\"}\n",
			transfer.JSON:      `[{"id":"b","_ts":999990},7,{"id":"a","_ts":999980},{"id":"none"}]`,
			transfer.CSV:       "id,_ts\nb,999990\nx,y,z\na,999980\nnone,\n",
		}[format]
		rejects := filepath.Join(t.TempDir(), "rejects")
		done, err := transfer.Import(t.Context(), opened(w.write("in", text), transfer.SourceOptions{Format: format}),
			&near{w: w, container: "items"}, transfer.ImportOptions{Way: keepAndSkip, Reject: rejects})
		w.ok(err)
		got, err := w.export("items", "positions=no")
		w.ok(err)
		if want := "{\"id\":\"a\",\"_ts\":999980}\n{\"id\":\"b\",\"_ts\":999990}\n"; got != want ||
			done.Rejected != 2 || done.Rows != 4 {
			t.Errorf("%s: %+v, %s", format, done, got)
		}
		if got := w.read(rejects); !strings.Contains(got, `"line":2,`) ||
			!strings.Contains(got, `"line":4,"reason":"The document has no _ts`) {
			t.Errorf("%s: rejects %s", format, got)
		}
	}
}

func TestCheckpointOfAnotherImport(t *testing.T) {
	w := newWorld(t)
	path := w.write("in.jsonl", "{\"id\":\"a\"}\n")
	o := transfer.ImportOptions{Way: keepAndSkip, Source: "one", Checkpoint: path + ".checkpoint"}
	o.Stamps = transfer.NewStamps
	stop := errors.New("stop")
	to := &near{w: w, container: "items", before: func() error { return stop }}
	if _, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	o.Source = "two"
	if _, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o); err == nil ||
		!strings.Contains(err.Error(), "checkpoint of another") {
		t.Errorf("%v, want a refusal", err)
	}
}

// TestKeptCheckpoint imports again what is complete, into the same target and into a new one, and something else in its
// place.
func TestKeptCheckpoint(t *testing.T) {
	w := newWorld(t)
	w.create(catalog.Definition{Name: "others", Dialect: catalog.Mongo})
	path := w.write("in.jsonl", "{\"a\":1}\n{\"a\":2}\n")
	stop := errors.New("stop")
	for _, c := range []struct {
		name, container, source string
		isNew, fails            bool
		want                    transfer.Total
	}{
		{"interrupted", "documents", "one", false, true, transfer.Total{}},
		{"into a collection that was made anew", "others", "one", true, false,
			transfer.Total{Rows: 2, Outcome: transfer.Outcome{Lines: 2, Written: 2}}},
		{"again", "others", "one", false, true,
			transfer.Total{Rows: 2, Outcome: transfer.Outcome{Lines: 2, Written: 2}, Resumed: 2, Complete: true}},
		{"something else", "documents", "two", false, false,
			transfer.Total{Rows: 2, Outcome: transfer.Outcome{Lines: 2, Written: 2}}},
	} {
		o := transfer.ImportOptions{
			Way: transfer.Way{Stamps: transfer.NewStamps, OnConflict: transfer.RejectExisting}, Source: c.source,
			Checkpoint: path + ".c", KeepCheckpoint: true, NewTarget: c.isNew, GenerateID: "_id",
		}
		to := &near{w: w, container: c.container}
		if c.fails {
			to.before = func() error { return stop }
		}
		done, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o)
		if fmt.Sprintf("%+v", done) != fmt.Sprintf("%+v", c.want) || (err != nil) != (c.want.Rows == 0) {
			t.Errorf("%s: %+v %v, want %+v", c.name, done, err, c.want)
		}
	}
	w.ok(transfer.DropCheckpoint(path + ".c"))
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestGeneratedIDsStayTheSame(t *testing.T) {
	w := newWorld(t)
	path := w.write("in.csv", "a,b\n1,x\n2,y\n3,z\n")
	lost := errors.New("lost")
	to := &near{w: w, container: "documents", after: func() error { return lost }}
	o := transfer.ImportOptions{
		Way: transfer.Way{Stamps: transfer.NewStamps, OnConflict: transfer.RejectExisting}, Source: path,
		Checkpoint: path + ".c", GenerateID: "_id",
	}
	if _, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	to.after = nil
	done, err := transfer.Import(t.Context(), opened(path, transfer.SourceOptions{}), to, o)
	w.ok(err)
	if done.Skipped != 3 || done.Rejected != 0 {
		t.Errorf("%+v, want the three that were there skipped", done)
	}
	if got, _ := w.export("documents", "positions=no"); strings.Count(got, "\n") != 3 ||
		!strings.Contains(got, `"a":{"$numberInt":"1"},"b":"x"`) {
		t.Errorf("%s", got)
	}
}

func zipped(t *testing.T, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
