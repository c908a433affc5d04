// Shows the API reference with Scalar. All features that contact other hosts are off, and the
// page's Content-Security-Policy blocks them too.
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
