package command

// Commands gives the table of commands: name to help.
func Commands() map[string]string {
	list := map[string]string{}
	for name, c := range table {
		list[name] = c.help
		if c.test {
			list[name] += " Only with `--mongo-test-commands`."
		}
	}
	return list
}
