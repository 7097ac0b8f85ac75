package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
)

func (c command) check() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the data of a mayfly that is not running",
		Long: "Check reads everything in the data folder and reports what does not agree: documents, their\n" +
			"index entries, unique keys, feeds and queues. It exits with 1 when it finds a problem, and\n" +
			"when the folder has no database.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.configure(cmd)
			if err != nil {
				return err
			}
			return cfg.check(c, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addFlags(cmd, "data", "log", "log-level")
	return cmd
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
	if asJSON {
		err = printJSON(c.out, found{report.Containers, report.Documents, report.Entries, report.Found,
			append([]string{}, report.Problems...)})
	} else {
		for _, p := range report.Problems {
			fmt.Fprintln(c.out, p)
		}
		if more := report.Found - len(report.Problems); more > 0 {
			fmt.Fprintf(c.out, "and %d more\n", more)
		}
		_, err = fmt.Fprintf(c.out,
			"%d containers, %d documents, %d index and queue entries, %d problems, checked in %s\n",
			report.Containers, report.Documents, report.Entries, report.Found, watch.Elapsed().Round(1e6))
	}
	if err == nil && report.Found > 0 {
		err = fmt.Errorf("the data is damaged: %d problems", report.Found)
	}
	if err != nil {
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
