import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Whatever runs the build, tests among them: what is served is the quick and quiet build of every package.
process.env['NODE_ENV'] = 'production'

export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  plugins: [react()],
  build: {
    target: 'es2023',
    // Nothing stands in the page itself: the policy of the pages allows files of this host only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
