package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/backup"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// backup is the command that makes a backup of a running mayfly, through its admin API.
func (c command) backup() *cobra.Command {
	base := ""
	cmd := c.online(
		&cobra.Command{
			Use:   "backup FOLDER|-",
			Short: "Make a backup of a running mayfly",
			Long: "Write a backup of all data to a folder that does not exist, or with - as a tar stream to the\n" +
				"standard output, while clients go on. Every write that was acknowledged before is in it. With\n" +
				"--base, tables that are in an earlier backup too are not sent, and become hard links; both\n" +
				"backups are complete. Keys, certificates and snapshots are not in a backup.",
			Example: "  mayfly backup /backup/monday\n" +
				"  mayfly backup /backup/tuesday --base /backup/monday\n" +
				"  mayfly backup - | zstd > monday.tar.zst",
			Args: cobra.ExactArgs(1),
		},
		func(ctx context.Context, s *session) error {
			if s.args[0] == "-" && (base != "" || s.json) {
				return usage{errors.New("--base and --json need a folder: a stream has everything, and is the output")}
			}
			return s.backup(ctx, s.args[0], base)
		},
	)
	cmd.Flags().StringVar(&base, "base", "", "an earlier backup, whose tables are used again")
	return cmd
}

// backedUp is a backup as JSON.
type backedUp struct {
	Folder string `json:"folder"`
	Clock  string `json:"clock"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	Sent   int64  `json:"sentBytes"`
}

func (s *session) backup(ctx context.Context, target, base string) error {
	body, err := backupRequest(base)
	if err != nil {
		return err
	}
	answer, err := s.Stream(ctx, http.MethodPost, remote.Path("backup"), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	progress := newProgress(s.c.err, "backup", "bytes")
	defer progress.close()
	counted := &countingReader{Reader: answer.Body, progress: progress}
	if target == "-" {
		return backup.Pass(ctx, counted, s.c.out)
	}
	m, err := backup.Read(ctx, counted, target, base)
	if err != nil {
		return err
	}
	done := backedUp{target, m.Clock.Format(time.RFC3339), len(m.Files), m.Bytes(), counted.n}
	if s.json {
		return printJSON(s.c.out, done)
	}
	return s.say("%s: %s files, %s, %s sent, clock %s", target, terminal.Count(int64(done.Files)),
		terminal.Bytes(done.Bytes), terminal.Bytes(done.Sent), done.Clock)
}

// backupRequest says which tables an earlier backup has already; base may be empty.
func backupRequest(base string) ([]byte, error) {
	var body struct {
		Have []string `json:"have,omitempty"`
	}
	if base != "" {
		earlier, err := backup.Open(base)
		if err != nil {
			return nil, err
		}
		body.Have = earlier.Tables()
	}
	return json.Marshal(body)
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	n        int64
	progress *lateProgress
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	r.progress.set(r.n, 0)
	return n, err
}
