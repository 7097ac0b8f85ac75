package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// A command is one call of the program: its arguments, its environment and its streams.
type command struct {
	args     []string
	in       io.Reader
	out, err io.Writer
	getenv   func(name string) (value string, ok bool)
	environ  func() []string // lines of name=value; nil gives none
}

// run runs the program and returns its exit code.
func run(c command) int {
	root := c.root()
	root.SetArgs(c.args)
	root.SetOut(c.out)
	root.SetErr(c.err)
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(c.err, "mayfly:", err)
	code := exitCode(err)
	if code == exitUsage {
		fmt.Fprintf(c.err, "Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	return code
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
	root.AddGroup(groups...)
	root.SetHelpCommandGroupID(groupServer)
	in(root, groupServer, c.serve(), c.health(), c.check(), c.operations(), c.bench(), c.key(), c.audit(), c.version())
	in(root, groupData, c.db(), c.container(), c.item(), c.query(), c.importFiles(), c.export(), c.copy(), c.backup(),
		c.restore(), c.snapshot())
	in(root, groupTime, c.ttl(), c.clock(), c.reclaim())
	explainArguments(root)
	return root
}

// Groups of commands in the help.
const (
	groupData   = "data"
	groupServer = "server"
	groupTime   = "time"
)

var groups = []*cobra.Group{
	{ID: groupData, Title: "Data:"},
	{ID: groupTime, Title: "Lifetimes and time:"},
	{ID: groupServer, Title: "The server:"},
}

// in adds commands to root in a group.
func in(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = group
		root.AddCommand(cmd)
	}
}

// family is a command that only has subcommands.
func family(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	names := make([]string, len(subcommands))
	for i, sub := range subcommands {
		names[i] = sub.Name()
	}
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(*cobra.Command, []string) error {
		return fmt.Errorf("name a subcommand of %s: %s", cmd.Name(), strings.Join(names, ", "))
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// printJSON writes v indented: the form of every --json.
func printJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", text)
	}
	return err
}
