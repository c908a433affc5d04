package email

import (
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/mail"
	views "example.com/loyalty/views/mail"
)

// Deprecation tells an owner that a request of the API ends.
func (m Mails) Deprecation(to string, e deprecation.NoticeEmail) mail.Email {
	business, request := line(e.Tenant), e.Method+" "+e.Path
	sunset := e.Sunset.UTC().Format("2 January 2006")
	return m.notice(to, "You get this e-mail because this is the owner address of "+business+", which has API tokens.", views.Email{
		Subject: "The API request " + request + " ends on " + sunset,
		Preview: "It works until then. Programs that use it need a change.",
		Blocks: []views.Block{
			greeting(""),
			views.Paragraph("This API request stops working on " + sunset + ". If a program of " + business + " uses it, ask its developer " +
				"to change it before then. Otherwise you don't need to do anything."),
			views.Facts{{Name: "Request", Value: request}, {Name: "Ends on", Value: sunset + ", 00:00 UTC"}},
			views.Link{Label: "View changes", URL: e.Link},
			views.Closing("Until then the request works as before. Its responses carry the headers Deprecation, Sunset and Link."),
		},
	})
}
