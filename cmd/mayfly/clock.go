package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mayflydb/mayfly/internal/clock"
)

// clock is the command that shows or moves the clock of a running mayfly, through its admin API.
func (c command) clock() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Show or move the clock of a running mayfly",
		Long:  "Show or move the clock of a running mayfly, through its admin address.",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return fmt.Errorf("name a subcommand: show, advance or set") },
	}
	cmd.AddCommand(
		c.clockCommand("show", "Show the clock", cobra.NoArgs, func([]string) (call, error) {
			return call{http.MethodGet, "/clock", nil}, nil
		}),
		c.advanceClock(),
		c.clockCommand(
			"set TIME",
			"Move a virtual clock forward to a time like 2026-03-01T12:00:00Z",
			cobra.ExactArgs(1),
			func(args []string) (call, error) {
				_, err := clock.ParseTime(args[0])
				return call{http.MethodPost, "/clock/set", map[string]string{"time": args[0]}}, err
			},
		),
	)
	return cmd
}

func (c command) advanceClock() *cobra.Command {
	cmd := c.clockCommand("advance DURATION", "Move a virtual clock forward, by 90s, 24h or 1h30m", cobra.ExactArgs(1),
		func(args []string) (call, error) {
			d, err := clock.ParseDuration(args[0])
			if err == nil && d < 0 {
				err = clock.ErrBackwards
			}
			return call{http.MethodPost, "/clock/advance", map[string]string{"duration": args[0]}}, err
		})
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		flag, ok := errors.AsType[*pflag.NotExistError](err)
		if ok && strings.ContainsAny(flag.GetSpecifiedShortnames(), "0123456789") { // -5s, which looks like flags
			return clock.ErrBackwards
		}
		return err
	})
	return cmd
}

var errNoAdmin = errors.New("the admin address is empty: give the address of a running mayfly with --admin")

// A call is one request to the admin API.
type call struct {
	method, path string
	body         any
}

// A clockState is the answer of the admin API.
type clockState struct {
	Time        time.Time `json:"time"`
	Virtual     bool      `json:"virtual"`
	StandsStill bool      `json:"standsStill,omitempty"`
}

func (c command) clockCommand(
	use, short string, args cobra.PositionalArgs, request func(args []string) (call, error),
) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd)
			if err != nil {
				return err
			}
			if cfg.node.Admin == "" {
				return errNoAdmin
			}
			call, err := request(args)
			if err != nil {
				return err
			}
			var answer clockState
			if err := cfg.ask(cmd.Context(), call, &answer); err != nil {
				return failure{err}
			}
			if asJSON {
				return printJSON(c.out, answer)
			}
			fmt.Fprintln(c.out, answer.Time.Format(time.RFC3339Nano))
			if answer.StandsStill {
				fmt.Fprintln(c.err, "mayfly: the clock stands still until the machine's clock reaches it")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addFlags(cmd, "admin", "key")
	return cmd
}

// ask sends a request to the admin API and decodes its answer.
func (cfg config) ask(ctx context.Context, request call, answer any) error {
	address := callable(cfg.node.Admin)
	body, err := json.Marshal(request.body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, request.method, "http://"+address+request.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if cfg.node.Key != "" {
		r.Header.Set("Authorization", "Bearer "+cfg.node.Key)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("no mayfly answers at %s: %w", address, err)
	}
	defer response.Body.Close()
	return readAnswer(response, answer)
}

func readAnswer(response *http.Response, answer any) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode == http.StatusOK {
		return json.Unmarshal(text, answer)
	}
	var refusal struct{ Error string }
	if json.Unmarshal(text, &refusal) != nil || refusal.Error == "" {
		refusal.Error = strings.TrimSpace(string(text))
	}
	if response.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("this mayfly needs the account key: give it with --key or MAYFLY_KEY; "+
			"a key that mayfly made is in DATA/account.key (%s)", response.Status)
	}
	return fmt.Errorf("%s (%s)", refusal.Error, response.Status)
}
