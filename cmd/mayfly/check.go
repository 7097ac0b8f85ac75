package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

func (c command) check() *cobra.Command {
	online := false
	cmd := c.online(
		&cobra.Command{
			Use:   "check",
			Short: "Check the data of a mayfly that is not running, or of one that is",
			Long: "Check reads everything in the data folder and reports what does not agree: documents, their\n" +
				"index entries, unique keys, feeds and queues. It exits with 1 when it finds a problem, and\n" +
				"when the folder has no database. With --online it asks a running mayfly to do this while it\n" +
				"serves, and shows the progress.",
			Example: "  mayfly check --data /var/lib/mayfly\n" +
				"  mayfly check --online",
			Args: cobra.NoArgs,
		},
		checkOnline,
	)
	running := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if online {
			return running(cmd, args)
		}
		cfg, err := c.configure(cmd)
		if err != nil {
			return err
		}
		asJSON, err := cmd.Flags().GetBool("json")
		if err != nil {
			return err
		}
		return cfg.check(c, asJSON)
	}
	cmd.Flags().BoolVar(&online, "online", false, "check a running mayfly, at --admin")
	addFlags(cmd, "log", "log-level")
	return cmd
}

// checkOnline waits for the check of a running mayfly. Its result is that of found, and consistent.
func checkOnline(ctx context.Context, s *session) error {
	o, err := s.run(ctx, remote.Path("check"), nil)
	if err != nil {
		return err
	}
	var report struct {
		Containers uint64   `json:"containers"`
		Documents  uint64   `json:"documents"`
		Entries    uint64   `json:"entries"`
		Problems   []string `json:"problems"`
		Found      int      `json:"problemsFound"`
	}
	if err := json.Unmarshal(o.Result, &report); err != nil {
		return err
	}
	took := time.Duration(o.Seconds * float64(time.Second))
	f := found{report.Containers, report.Documents, report.Entries, report.Found,
		append([]string{}, report.Problems...)}
	return f.print(s.c, s.json, took)
}

func (cfg config) check(c command, asJSON bool) error {
	watch := clock.Start()
	if err := cfg.existing(); err != nil {
		return failure{err}
	}
	ctx, release := interrupted(cfg.logger(c.err))
	defer release()
	engine, err := cfg.openEngine(ctx, memoryPlan{}, cfg.logger(c.err))
	if err != nil {
		return failure{err}
	}
	report, err := node.Check(ctx, engine)
	if err != nil {
		return failure{err}
	}
	f := found{report.Containers, report.Documents, report.Entries, report.Found,
		append([]string{}, report.Problems...)}
	if err := f.print(c, asJSON, watch.Elapsed()); err != nil {
		return failure{err}
	}
	return nil
}

// found is a report as JSON.
type found struct {
	Containers uint64   `json:"containers"`
	Documents  uint64   `json:"documents"`
	Entries    uint64   `json:"entries"`
	Found      int      `json:"found"`
	Problems   []string `json:"problems"` // the first ones
}

// print writes a report. It fails if the report has problems.
func (f found) print(c command, asJSON bool, took time.Duration) (err error) {
	if asJSON {
		err = printJSON(c.out, f)
	} else {
		for _, p := range f.Problems {
			fmt.Fprintln(c.out, terminal.Plain(p))
		}
		if more := f.Found - len(f.Problems); more > 0 {
			fmt.Fprintf(c.out, "and %d more\n", more)
		}
		_, err = fmt.Fprintf(c.out,
			"%d containers, %d documents, %d index and queue entries, %d problems, checked in %s\n",
			f.Containers, f.Documents, f.Entries, f.Found, took.Round(time.Millisecond))
	}
	if err == nil && f.Found > 0 {
		err = fmt.Errorf("the data is damaged: %d problems", f.Found)
	}
	return err
}
