// Command mayfly is a document database with the APIs of Azure Cosmos DB for NoSQL and MongoDB, and with exact time to
// live. Each subcommand has a file. settings.go lists the settings, which come from flags, the environment or a file.
package main

import "os"

func main() {
	os.Exit(run(command{
		args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, environ: os.Environ,
	}))
}
