package change

// Lists reports whether an action of the audit log is a change that is listed.
func Lists(action string) bool {
	_, listed := audited[action]
	return listed
}
