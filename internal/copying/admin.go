package copying

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// Bounds of a chunk for the admin API.
const (
	chunkLines = 1_000
	chunkBytes = 1 << 20
)

// asTheyAre is how documents are imported: with the stamps of the source, the newest version last.
var asTheyAre = transfer.Way{Stamps: transfer.KeepStamps, OnConflict: transfer.ReplaceExisting}

// sendLines imports lines that are in the order of their stamps. Lines that arrived before are skipped by the target.
func sendLines(ctx context.Context, to transfer.Target, lines []byte, part *Part) error {
	done, err := to.Import(ctx, lines, asTheyAre)
	if err != nil {
		return err
	}
	if done.Rejected > 0 {
		var text strings.Builder
		for _, r := range done.Rejections[:min(len(done.Rejections), 5)] {
			fmt.Fprintf(&text, "\n  %s", r.Reason)
		}
		return fmt.Errorf("the target rejected %d documents:%s", done.Rejected, text.String())
	}
	if part.Created { // then nobody else has written them: the answer to an interrupted run was lost
		done.Written, done.Skipped = done.Written+done.Skipped, 0
	}
	part.Written += int64(done.Written)
	part.Skipped += int64(done.Skipped)
	part.Overdue += int64(done.Overdue)
	return nil
}

// grace is how long an interrupted copy waits for the answers to what it has sent, so that it can count them.
const grace = 5 * time.Second

// lasting is a context for writes that ends some time after the one of the copy.
func lasting(ctx context.Context) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = clock.Pause(longer, grace) // its only error is that of a write that is done
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// copyLines copies a container from one mayfly to another, with its stamps, through both admin APIs.
func copyLines(ctx context.Context, from transfer.Origin, to transfer.Target, j *job, acknowledge func() error) error {
	in, err := from.Export(ctx, j.state.Position)
	if err != nil {
		return err
	}
	defer in.Close()
	reader := transfer.NewLineReader(in, transfer.MaxLine)
	var chunk bytes.Buffer
	rows := int64(0)
	for {
		line, _, tooLong, err := reader.Next()
		if err == nil && tooLong {
			err = fmt.Errorf("the source sent a line of more than %d bytes", transfer.MaxLine)
		}
		if err != nil {
			return fmt.Errorf("the export of the source broke off: %w", err)
		}
		position, ended, ok := positionIn(line)
		if !ok {
			chunk.Write(line)
			chunk.WriteByte('\n')
			rows++
			continue
		}
		if !ended && rows < chunkLines && chunk.Len() < chunkBytes {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if rows > 0 {
			writing, done := lasting(ctx)
			err := sendLines(writing, to, chunk.Bytes(), j.part)
			done()
			if err != nil {
				return err
			}
		}
		j.part.Read += rows
		j.state.Position = position
		chunk.Reset()
		rows = 0
		if err := acknowledge(); err != nil || ended {
			return err
		}
	}
}

// positionIn reads a line that says how far an export is; ok is false for a document.
func positionIn(line []byte) (position string, ended, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"`+transfer.PositionMember+`":`)) {
		return "", false, false
	}
	var at struct {
		Position string `json:"$position"`
		Done     bool   `json:"done"`
	}
	err := json.Unmarshal(line, &at)
	return at.Position, at.Done, err == nil
}
