package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A listener is a target that takes everything until it is away, and remembers how it was asked.
type listener struct {
	ways []Way
	away bool
}

func (l *listener) Import(_ context.Context, lines []byte, way Way) (Outcome, error) {
	if l.away {
		return Outcome{}, errAway
	}
	l.ways = append(l.ways, way)
	n := strings.Count(string(lines), "\n")
	return Outcome{Lines: n, Written: n}, nil
}

// imports returns the options of an import, and what imports its three documents one by one.
func imports(t *testing.T) (ImportOptions, func(Target, ImportOptions) (Total, error)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte("{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"c\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := ImportOptions{Source: path, Identity: "first", Checkpoint: path + ".checkpoint", KeepCheckpoint: true,
		ChunkRows: 1, Way: Way{Stamps: NewStamps, OnConflict: RejectExisting}}
	return o, func(to Target, o ImportOptions) (Total, error) {
		open := func() (Source, error) { return Open(path, SourceOptions{Relaxed: true}) }
		return Import(t.Context(), open, to, o)
	}
}

// TestCheckpointOfAnotherContainer goes on only in the container that has what the checkpoint speaks of.
func TestCheckpointOfAnotherContainer(t *testing.T) {
	o, run := imports(t)
	if _, err := run(&listener{}, o); err != nil {
		t.Fatal(err)
	}
	if done, err := run(&listener{}, o); err != nil || !done.Complete {
		t.Errorf("the same container: %+v %v", done, err)
	}
	o.Identity = "second"
	l := &listener{}
	if _, err := run(l, o); err == nil || !strings.Contains(err.Error(), "into another container") || l.ways != nil {
		t.Errorf("another container: %v, %d chunks", err, len(l.ways))
	}
	o.NewTarget = true
	if done, err := run(l, o); err != nil || done.Complete || len(l.ways) != 3 {
		t.Errorf("a new container: %+v %v, %d chunks", done, err, len(l.ways))
	}
}

// TestNewTargetIsRemembered interrupts an import into a new container before its first chunk is written: the next run
// does not believe the checkpoint from before.
func TestNewTargetIsRemembered(t *testing.T) {
	o, run := imports(t)
	if _, err := run(&listener{}, o); err != nil {
		t.Fatal(err)
	}
	ended, o2 := errors.New("ended"), o
	o2.NewTarget = true
	_, err := Import(t.Context(), func() (Source, error) { return nil, ended }, &listener{}, o2)
	if !errors.Is(err, ended) {
		t.Fatal(err)
	}
	l := &listener{}
	if done, err := run(l, o); err != nil || done.Complete || len(l.ways) != 3 {
		t.Errorf("%+v %v, %d chunks", done, err, len(l.ways))
	}
}

// TestResentChunk goes on after an answer that was lost: the chunk counts as sent again only in the one way in which
// that means something.
func TestResentChunk(t *testing.T) {
	for _, c := range []struct{ way, want Way }{
		{Way{NewStamps, RejectExisting, false}, Way{NewStamps, SkipExisting, false}},
		{Way{NewStamps, ReplaceExisting, false}, Way{NewStamps, ReplaceExisting, false}},
		{Way{KeepStamps, SkipExisting, false}, Way{KeepStamps, SkipExisting, false}},
		{Way{KeepStamps, ReplaceExisting, false}, Way{KeepStamps, ReplaceExisting, true}},
	} {
		o, run := imports(t)
		o.Way = c.way
		if _, err := run(&listener{away: true}, o); !errors.Is(err, errAway) {
			t.Fatal(err)
		}
		l := &listener{}
		if _, err := run(l, o); err != nil || len(l.ways) != 3 || l.ways[0] != c.want || l.ways[1] != c.way {
			t.Errorf("%v: sent as %v, want %v first (%v)", c.way, l.ways, c.want, err)
		}
	}
}
