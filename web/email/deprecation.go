package email

import (
	"example.com/loyalty/core/deprecation"
	views "example.com/loyalty/views/mail"
)

func (p renderer) deprecation(to string, l deprecation.NoticeEmail) message {
	business, request := line(l.Tenant), l.Method+" "+l.Path
	sunset := l.Sunset.UTC().Format("2 January 2006")
	return p.notice(to, views.Notice{
		Subject: "The API request " + request + " ends on " + sunset,
		Preview: "It works until then. Programs that use it need a change.",
		Reason:  "You get this e-mail because this is the owner address of " + business + ", which has API tokens.",
		Intro: "This API request stops working on " + sunset + ". If a program of " + business + " uses it, ask its developer " +
			"to change it before then. Otherwise you don't need to do anything.",
		Facts:   []views.Fact{{Name: "Request", Value: request}, {Name: "Ends on", Value: sunset + ", 00:00 UTC"}},
		Action:  "View changes",
		Address: l.Link,
		Fine:    "Until then the request works as before. Its responses carry the headers Deprecation, Sunset and Link.",
	})
}
