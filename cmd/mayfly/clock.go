package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// clock talks to the admin door of a running mayfly.
func (c command) clock() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Show or move the clock of a running mayfly",
		Long:  "Show or move the clock of a running mayfly, through its admin address.",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return fmt.Errorf("clock needs one of show, advance, set") },
	}
	cmd.AddCommand(
		c.clockCommand("show", "Show the clock", cobra.NoArgs, func([]string) call {
			return call{http.MethodGet, "/clock", nil}
		}),
		c.clockCommand("advance DURATION", "Move a virtual clock on, by 90s, 24h or 1h30m", cobra.ExactArgs(1), func(args []string) call {
			return call{http.MethodPost, "/clock/advance", map[string]string{"duration": args[0]}}
		}),
		c.clockCommand("set TIME", "Move a virtual clock on to a time like 2026-03-01T12:00:00Z", cobra.ExactArgs(1), func(args []string) call {
			return call{http.MethodPost, "/clock/set", map[string]string{"time": args[0]}}
		}),
	)
	return cmd
}

// A call is one request to the admin door.
type call struct {
	method, path string
	body         any
}

func (c command) clockCommand(use, short string, args cobra.PositionalArgs, request func(args []string) call) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := c.configure(cmd)
			if err != nil {
				return err
			}
			var answer struct {
				Time    time.Time `json:"time"`
				Virtual bool      `json:"virtual"`
			}
			if err := cfg.ask(cmd.Context(), request(args), &answer); err != nil {
				return failure{err}
			}
			if asJSON {
				return printJSON(c.out, answer)
			}
			fmt.Fprintln(c.out, answer.Time.Format(time.RFC3339Nano))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addFlags(cmd, "admin", "key")
	return cmd
}

// ask sends a request to the admin door and decodes its answer.
func (cfg config) ask(ctx context.Context, request call, answer any) error {
	address, err := adminAddress(cfg.node.Admin)
	if err != nil {
		return err
	}
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
	return fmt.Errorf("%s (%s)", refusal.Error, response.Status)
}

// adminAddress is where to call a door that listens on address.
func adminAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("admin address %q is not host:port", address)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
