// Command mayfly is a document database that speaks Azure Cosmos DB for NoSQL
// and whose documents end at their second. Each subcommand has a file; settings.go
// lists what can be set, by flag, environment or file.
package main

import "os"

func main() {
	os.Exit(run(command{
		args: os.Args[1:], out: os.Stdout, err: os.Stderr, getenv: os.LookupEnv, environ: os.Environ,
	}))
}
