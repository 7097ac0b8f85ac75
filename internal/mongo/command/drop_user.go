package command

func init() {
	register("dropUser", command{run: dropUser, help: "Takes a user away.", needs: userAction})
}

func dropUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	return r.changeUser(name, nil, true)
}
