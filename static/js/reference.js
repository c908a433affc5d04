// Shows the API's description. Everything in Scalar that would speak to another host, or
// offer to, is off; the page's security policy would stop it as well.
const reference = document.getElementById('reference')

Scalar.createApiReference(reference, {
  url: reference.dataset.description,
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'direct',
  hideDarkModeToggle: true,
  persistAuth: false,
  modelsSectionLabel: 'Records',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})
