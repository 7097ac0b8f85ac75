package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthTime is how long health waits for an answer, which normally takes milliseconds.
const healthTime = 3 * time.Second

// ready is the status of a mayfly that serves requests.
const ready = "ready"

// health is the command that asks the admin API whether a mayfly is ready: container images have no curl.
func (c command) health() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Report whether a running mayfly is ready",
		Long: "Health asks a running mayfly, through its admin address, whether it is ready for requests. It\n" +
			"prints the answer, and exits with 0 when mayfly is ready, with 1 when it is not or does not\n" +
			"answer within " + healthTime.String() + ".",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.configure(cmd)
			if err != nil {
				return err
			}
			if cfg.node.Admin == "" {
				return errNoAdmin
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), healthTime)
			defer cancel()
			return cfg.health(ctx, c, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addFlags(cmd, "admin")
	return cmd
}

// health prints the answer of /readyz; "not ready" is a failure.
func (cfg config) health(ctx context.Context, c command, asJSON bool) error {
	address := callable(cfg.node.Admin)
	answer, err := askReady(ctx, address)
	if err != nil {
		return failure{fmt.Errorf("no mayfly answers at %s: %w", address, err)}
	}
	if asJSON {
		err = printJSON(c.out, answer)
	} else if answer.Status == ready {
		_, err = fmt.Fprintln(c.out, answer)
	}
	if err == nil && answer.Status != ready {
		err = fmt.Errorf("the mayfly at %s is %s", address, answer)
	}
	if err != nil {
		return failure{err}
	}
	return nil
}

// readiness is the answer of /readyz.
type readiness struct {
	Status  string   `json:"status"`
	Reasons []string `json:"reasons,omitempty"`
}

func (r readiness) String() string {
	if len(r.Reasons) == 0 {
		return r.Status
	}
	return r.Status + ": " + strings.Join(r.Reasons, "; ")
}

// askReady asks /readyz, which needs no key on any address.
func askReady(ctx context.Context, address string) (answer readiness, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return answer, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return answer, err
	}
	if json.Unmarshal(text, &answer) != nil || answer.Status == "" {
		return answer, fmt.Errorf("%s, %q", response.Status, strings.TrimSpace(string(text)))
	}
	return answer, nil
}
