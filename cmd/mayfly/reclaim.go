package main

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// reclaim is the command that shows and controls how the space of expired documents is freed.
func (c command) reclaim() *cobra.Command {
	sub := func(use, short, method string, path ...string) *cobra.Command {
		return c.online(&cobra.Command{Use: use, Short: short, Args: cobra.NoArgs},
			func(ctx context.Context, s *session) error {
				return ask(ctx, s, method, remote.Path(path...), nil, s.showReclaim)
			})
	}
	return family(
		&cobra.Command{
			Use:   "reclaim",
			Short: "Free the space of what has expired",
			Long: "Show and control how a running mayfly frees the space of expired documents. A document expires\n" +
				"at its deadline, whatever reclaiming does: no read and no query returns it any more.",
			Example: "  mayfly reclaim show\n" +
				"  mayfly reclaim now",
		},
		sub("show", "Show what was reclaimed and what waits", http.MethodGet, "reclaim"),
		sub("now", "Reclaim everything that has expired, and wait for it", http.MethodPost, "reclaim"),
		sub("pause", "Stop reclaiming; documents expire all the same", http.MethodPost, "reclaim", "pause"),
		sub("resume", "Go on reclaiming", http.MethodPost, "reclaim", "resume"),
	)
}

// A reclaimState is the answer of the admin API.
type reclaimState struct {
	Documents  int64 `json:"reclaimedDocuments"`
	Bytes      int64 `json:"reclaimedBytes"`
	Entries    int64 `json:"reclaimedEntries"`
	Backlog    int64 `json:"backlog"`
	LagSeconds int64 `json:"lagSeconds"`
	Paused     bool  `json:"paused"`
}

func (s *session) showReclaim(r reclaimState) error {
	state := "running"
	if r.Paused {
		state = "paused"
	}
	waiting := terminal.Count(r.Backlog) + " documents"
	if r.LagSeconds > 0 {
		waiting += ", the oldest for " + clock.FormatDuration(time.Duration(r.LagSeconds)*time.Second)
	}
	return s.facts([][2]string{
		{"Reclaiming", state},
		{"Waiting", waiting},
		{"Reclaimed", terminal.Count(r.Documents) + " documents, " + terminal.Bytes(r.Bytes) + ", " +
			terminal.Count(r.Entries) + " index entries"},
	})
}
