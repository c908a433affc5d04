package email

import (
	"example.com/loyalty/core/deprecation"
	views "example.com/loyalty/views/mail"
)

func (p renderer) deprecated(to string, l deprecation.NoticeEmail) message {
	tenant, request := line(l.Tenant), l.Method+" "+l.Path
	end := l.Sunset.UTC().Format("2 January 2006")
	return notice(views.Notice{
		Frame: views.Frame{
			Subject: "The API request " + request + " ends on " + end,
			Preview: "It works until then. Programs that use it need a change.",
			Service: p.service, To: to, Reason: "You get this mail because this is the owner address of " + tenant + ", which has API tokens.",
		},
		Greeting: "Hello,",
		Intro: "A request of the API will no longer be answered. If a program of " + tenant + " makes it, whoever looks after that program " +
			"should change it in time. If none does, there is nothing to do.",
		Facts:   []views.Fact{{Name: "Request", Value: request}, {Name: "Ends on", Value: end + ", 00:00 UTC"}},
		Action:  "See what to do instead",
		Address: l.Link,
		Fine:    "Until that day nothing changes but three headers: the answers to this request carry Deprecation, Sunset and a Link to this page.",
	})
}
