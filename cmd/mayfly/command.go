package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// A command is one call of the program: its arguments, its environment and its output.
type command struct {
	args     []string
	out, err io.Writer
	getenv   func(name string) (value string, ok bool)
	environ  func() []string // lines of name=value; nil gives none
}

// A failure is an error of the work itself. All other errors are errors of usage.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// run runs the program and returns its exit code.
func run(c command) int {
	root := c.root()
	root.SetArgs(c.args)
	root.SetOut(c.out)
	root.SetErr(c.err)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(c.err, "mayfly:", err)
	if _, ok := errors.AsType[failure](err); ok {
		return exitFailed
	}
	fmt.Fprintln(c.err, "Run 'mayfly --help' for usage.")
	return exitUsage
}

// root is `mayfly`, which serves without a subcommand.
func (c command) root() *cobra.Command {
	root := c.serve()
	root.Use = "mayfly"
	root.Long = "mayfly is a document database with the APIs of Azure Cosmos DB for NoSQL and MongoDB, and with\n" +
		"exact time to live: a document expires at its second. Without a subcommand it serves.\n\n" + sources
	root.Version = versionText()
	root.SetVersionTemplate("mayfly {{.Version}}\n")
	root.SetFlagErrorFunc(unknownFlag)
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(c.serve(), c.check(), c.clock(), c.health(), c.version())
	return root
}

// printJSON writes v indented: the form of every --json.
func printJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return err
}
