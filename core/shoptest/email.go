package shoptest

// NoEmails are texts that look like an e-mail address, which no mail server could deliver to: each is refused wherever
// an address is typed.
func NoEmails() []string {
	return []string{
		"an\u200bna@example.com", "anna@exa\u00a0mple.com", "anna\u2028@example.com", "anna@example.com\u202ex", "x@[127.0.0.1]", "anna@127.0.0.1", "anna@localhost",
		"anna@" + "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg" + ".com", "anna@-example.com", "anna@example..com", `"anna"@example.com`,
	}
}
